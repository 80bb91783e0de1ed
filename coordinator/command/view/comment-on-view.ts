import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import { requireTableAction, type LoadedView } from '../../binding/table-source.ts';
import { printIntervals } from '../../binding/interval-columns.ts';
import { schemaOf, type ViewDefinition } from '../../binding/view-definition.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { schemaJson } from '../table/new-table.ts';
import { printTableName } from '../table/table-place.ts';
import { commentUpdate, versionUpdates } from './new-version.ts';
import { viewParams } from './view-place.ts';

type Updates = ReturnType<typeof versionUpdates>;

/** Gives a view a comment, or takes it away. */
export const commentOnView = (view: LoadedView, text: string | null, context: CommandContext): Promise<void> =>
  changeView(view, [commentUpdate(text)], context);

/**
 * Gives a column of a view a comment, or takes it away: a new version of the view, whose columns have the comments.
 * @throws COLUMN_NOT_FOUND, FORBIDDEN
 */
export async function commentOnViewColumn(
  loaded: LoadedView,
  { name, text }: { readonly name: string; readonly text: string | null },
  context: CommandContext,
): Promise<void> {
  requireTableAction(loaded, 'table.describe');
  const { fields } = schemaOf(loaded.view);
  const field =
    fields.find((one) => one.name === name) ?? fields.find((one) => foldIdentifier(one.name) === foldIdentifier(name));
  if (field === undefined) {
    throw new SkeinError('COLUMN_NOT_FOUND', `view ${printTableName(loaded.name)} has no column ${name}`);
  }
  if ((field.doc ?? null) === text) return;
  const commented = fields.map((one) => {
    if (one !== field) return one;
    const { doc: _doc, ...rest } = one;
    return text === null ? rest : { ...rest, doc: text };
  });
  const schema = schemaJson({ fields: commented, identifierFieldIds: [] });
  await changeView(loaded, versionUpdates(schema, versionOf(loaded.view)), context);
}

/** The view's current version, as one to add. */
function versionOf({ defaultCatalog, defaultNamespace, representations, storageTable, intervals }: ViewDefinition) {
  return {
    'version-id': 1,
    'timestamp-ms': Date.now(),
    summary: { 'engine-name': 'skein', ...printIntervals(intervals) },
    ...(defaultCatalog === null ? {} : { 'default-catalog': defaultCatalog }),
    'default-namespace': defaultNamespace,
    representations,
    ...(storageTable === null ? {} : { 'storage-table': storageTable }),
  };
}

async function changeView({ name, view }: LoadedView, updates: Updates, context: CommandContext): Promise<void> {
  const body = { requirements: [{ type: 'assert-view-uuid', uuid: view.uuid }], updates };
  await changeCatalog(context, { id: 'replaceView', params: viewParams(name), body });
}
