import { SkeinError } from '#shared/error.ts';
import type { JsonObject } from '#shared/json.ts';
import { must, unreachable } from '#shared/must.ts';
import { currentSchema } from '#shared/iceberg/table-metadata.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { printRefreshState, readRefreshState, sourcesOf, type RefreshState } from '../../refresh/refresh-state.ts';
import { findAverages } from '../../refresh/find-averages.ts';
import { keptColumns, storedRows, type KeptAverage } from '../../refresh/kept-averages.ts';
import type { MergedColumn } from '../../refresh/refresh-shape.ts';
import { refreshWay, type Averages, type RefreshWay } from '../../refresh/refresh-way.ts';
import type { LoadedTable, LoadedView, TableName } from '../../binding/table-source.ts';
import { viewError } from '../../resolver/view/expand-views.ts';
import { ownQuery, schemaOf } from '../../binding/view-definition.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import type { WriteOutcome, WriteTarget } from '../../operation/writes.ts';
import type { QueryScope, Refresh as RefreshOf } from '../../operation/refresh-request.ts';
import { FORMAT_VERSION_DEFAULT, newTable } from '../table/new-table.ts';
import { createdTarget, replacedTarget } from '../table/new-target.ts';
import { queryColumns } from '../table/query-columns.ts';
import { printTableName } from '../table/table-place.ts';

type Refresh = RefreshOf<WriteTarget>;

/** A refresh of a materialized view, before anything runs. */
export type PlannedRefresh = {
  readonly way: RefreshWay;
  readonly view: LoadedView;
  /** The table of the view's rows; null before the first refresh. */
  readonly stored: Extract<LoadedTable, { kind: 'found' }> | null;
  /** The state that the rows will have. */
  readonly state: RefreshState;
  readonly averages: Averages;
  /** How the commit of the rows makes or changes the view; absent = the view stays as it was loaded. */
  readonly viewChange?: JsonObject;
};

/** Finds how the view is brought up to date. @throws as its query does, with the view's name */
export async function planRefresh(
  view: LoadedView,
  context: CommandContext,
  position: number,
): Promise<PlannedRefresh> {
  const { uuid: viewUuid, versionId: viewVersionId } = view.view;
  try {
    const queries = context.queries.in(scopeOf(view));
    const { planned, timeZone } = await queries.plan({ text: ownQuery(view.view), offset: 0 });
    const [loaded] = await context.tables.loadTables([storageName(view)], context.signal);
    const stored = loaded?.kind === 'found' ? loaded : null;
    const state = { viewUuid, viewVersionId, timeZone, sources: sourcesOf(planned.scans) };
    const averages = await findAverages(view.view, planned, queries);
    const storedColumns = new Set(stored === null ? [] : foldedNames(currentSchema(stored.metadata).fields));
    const refreshed = { viewUuid, viewVersionId, timeZone, definition: view.view, averages, storedColumns };
    return { way: refreshWay(planned, stateOf(stored), refreshed), view, stored, state, averages };
  } catch (error) {
    throw viewError(error, printTableName(view.name), position);
  }
}

/**
 * Brings the rows of the view up to date in one commit, before which readers see those of the last refresh:
 * ```
 * current       nothing to do
 * incremental   query over the new files of one table ─▶ appended │ merged with the rows that are there
 * full          query ─▶ in the place of the rows that are there
 * ```
 * @returns the number of rows that it has written
 * @throws as the query does, with the view's name; COMMIT_CONFLICT when another refresh came first
 */
export async function refresh(
  planned: PlannedRefresh,
  context: CommandContext,
  position: number,
): Promise<WriteOutcome> {
  const { way, view } = planned;
  const { writes } = context;
  if (way.kind === 'current') return { count: 0, bytesScanned: 0, fragments: 0 };
  try {
    if (way.kind === 'full') return await writes.refresh(fullRefresh(planned, context));
    return await writes.refresh(incrementalRefresh(planned, way, context)).catch((error: unknown) => {
      if (error instanceof SourcesMoved) return writes.refresh(fullRefresh(planned, context));
      throw error;
    });
  } catch (error) {
    throw viewError(error, printTableName(view.name), position);
  }
}

/** The tables were read in another state than was planned: a snapshot had expired while the statement waited. */
class SourcesMoved extends SkeinError {
  constructor() {
    super('COMMIT_CONFLICT', 'the tables of the view have changed meanwhile');
  }
}

const fullRefresh = (planned: PlannedRefresh, context: CommandContext): Refresh => ({
  ...replacing(planned, context),
  query: { text: freshRows(planned), offset: 0 },
  summaryOf: (scans) => printRefreshState({ ...planned.state, sources: sourcesOf(scans) }),
});

function incrementalRefresh(
  planned: PlannedRefresh,
  { shape, since }: Extract<RefreshWay, { kind: 'incremental' }>,
  context: CommandContext,
): Refresh {
  const { view, state } = planned;
  const { name, metadata } = must(planned.stored, 'a view with a state has rows');
  const summaryOf: Refresh['summaryOf'] = (scans) => {
    const read = sourcesOf(scans.filter((scan) => scan.kind !== 'iceberg' || scan.tableUuid !== metadata.tableUuid));
    if (JSON.stringify(read) !== JSON.stringify(state.sources)) throw new SourcesMoved();
    return printRefreshState(state);
  };
  const added = freshRows(planned);
  if (shape.kind === 'append') {
    const scope = { ...scopeOf(view), since };
    const into = { kind: 'append', table: name } as const;
    return { query: { text: added, offset: 0 }, scope, into, viewChange: viewChangeOf(planned), summaryOf };
  }
  const text = mergedRows(planned, { columns: shape.columns, storage: name, added });
  const { into, scope, viewChange } = replacing(planned, context);
  return { query: { text, offset: 0 }, scope: { ...scope, since }, into, viewChange, summaryOf };
}

/** The rows that are there and those that come, merged by the columns of the key. */
function mergedRows(
  planned: PlannedRefresh,
  parts: { readonly columns: readonly MergedColumn[]; readonly storage: TableName; readonly added: string },
): string {
  const { columns, storage, added } = parts;
  const { view } = planned.view;
  const averages = keptIn(planned);
  const names = schemaOf(view).fields.map(({ name }) => quoteIdentifier(name));
  const values = names.flatMap((name, i) => {
    const column = must(columns[i], 'the way has a column for each of the view');
    switch (column.kind) {
      case 'key':
        return [name];
      case 'aggregate':
        return [`${column.by}(${name}) AS ${name}`];
      case 'average':
        return [];
      default:
        return unreachable(column);
    }
  });
  const kept = keptColumns(averages).map(({ name }) => `sum("${name}") AS "${name}"`);
  const keys = names.filter((_, i) => columns[i]?.kind === 'key');
  const path = [storage.catalog, storage.namespace.join('.'), storage.table].map(quoteIdentifier).join('.');
  const groups = keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`;
  const both = `${storedRows(view, averages, path)} UNION ALL ${added}`;
  return storedRows(view, averages, `(SELECT ${[...values, ...kept].join(', ')} FROM (${both}) AS "both"${groups})`);
}

/** The rows that the view's query has now. */
const freshRows = (planned: PlannedRefresh): string => {
  const { averages, view } = planned;
  const sql = averages.kind === 'kept' ? averages.sql : ownQuery(view.view);
  return storedRows(view.view, keptIn(planned), `(${sql}\n)`);
};

const keptIn = ({ averages }: PlannedRefresh): readonly KeptAverage[] =>
  averages.kind === 'kept' ? averages.columns : [];

/** Rows that come in the place of those that are there, in a table that is made when there is none. */
function replacing(planned: PlannedRefresh, context: CommandContext): Pick<Refresh, 'into' | 'scope' | 'viewChange'> {
  const { view, stored } = planned;
  const version = stored?.metadata.formatVersion === 3 ? 3 : FORMAT_VERSION_DEFAULT;
  return {
    scope: scopeOf(view),
    viewChange: viewChangeOf(planned),
    into: {
      kind: 'replace',
      targetOf: (columns) => {
        const table = newTable(queryColumns(columns, 0), {}, version);
        return stored === null
          ? createdTarget({ name: storageName(view) }, table, context)
          : replacedTarget(stored.name, table, context);
      },
    },
  };
}

/** The rows are those of the view as it was loaded, or of what it becomes with them. */
function viewChangeOf({ view: { name, view }, viewChange }: PlannedRefresh): JsonObject {
  const identifier = { catalog: name.catalog, namespace: name.namespace, name: name.table };
  const kept = { action: 'keep', uuid: view.uuid, 'version-id': view.versionId };
  return { identifier, ...(viewChange ?? kept) };
}

function stateOf(stored: PlannedRefresh['stored']): RefreshState | null {
  const id = stored?.metadata.currentSnapshotId ?? null;
  const snapshot = id === null ? undefined : stored?.metadata.snapshots.get(id);
  return snapshot === undefined ? null : readRefreshState(snapshot.summary);
}

const foldedNames = (fields: readonly { readonly name: string }[]): readonly string[] =>
  fields.map(({ name }) => foldIdentifier(name));

/** The table of the view's rows. */
function storageName({ name, view }: LoadedView): TableName {
  const { namespace, name: table } = must(view.storageTable, 'a materialized view has a table');
  return { catalog: name.catalog, namespace, table };
}

/** Names in the view's query mean what they meant when the view was made. */
const scopeOf = ({ name, view }: LoadedView): QueryScope => ({
  names: { catalog: view.defaultCatalog ?? name.catalog, schema: view.defaultNamespace.join('.') },
});
