import { stageName as nameOf } from '../../stage/open-stage.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { namespaceParam } from '../schema/schema-place.ts';

/** The parameters of a REST operation on a stage's schema, and the stage's name. @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND */
export async function stageParams(
  object: ObjectName,
  context: CommandContext,
): Promise<{ readonly params: Readonly<Record<string, string>>; readonly name: string }> {
  const { catalog, of } = await withNamePosition(object, nameOf({ name: object.parts }, context));
  return { params: { prefix: catalog, namespace: namespaceParam(of?.namespace ?? []) }, name: of?.name ?? '' };
}
