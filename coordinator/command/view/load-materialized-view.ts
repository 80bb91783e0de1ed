import { SkeinError } from '#shared/error.ts';
import type { LoadedView, TableName } from '../../binding/table-source.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { qualify } from '../../operation/qualify.ts';
import { printTableName } from '../table/table-place.ts';
import { loadView } from './view-place.ts';

/** @throws as `loadView`, with the place of the name; WRONG_OBJECT_TYPE for a view without rows of its own */
export async function loadMaterializedView(name: ObjectName, context: CommandContext): Promise<LoadedView> {
  const wanted = await qualify(name, context);
  const loaded = await withNamePosition(name, loadView(context.tables, wanted, context.signal));
  if (loaded.view.storageTable !== null) return loaded;
  const { code, message } = isPlainView(loaded.name);
  throw new SkeinError(code, message, { position: name.position });
}

const isPlainView = (name: TableName): SkeinError =>
  new SkeinError('WRONG_OBJECT_TYPE', `${printTableName(name)} is a view, not a materialized view`);
