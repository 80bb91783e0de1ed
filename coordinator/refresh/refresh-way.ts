import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { ScanBinding } from '../binding/scan-binding.ts';
import type { ViewDefinition } from '../binding/view-definition.ts';
import { columnsOfView, keptColumns, type KeptAverage } from './kept-averages.ts';
import { refreshShape, type RefreshShape } from './refresh-shape.ts';
import { sourcesOf, type RefreshState } from './refresh-state.ts';
import { sourceChange } from './source-changes.ts';

/** How a materialized view is brought up to date. */
export type RefreshWay =
  | { readonly kind: 'current' }
  | {
      readonly kind: 'incremental';
      readonly shape: Exclude<RefreshShape, { kind: 'none' }>;
      /** The table with new rows: they are in files above a data sequence number (decimal). */
      readonly since: { readonly tableUuid: string; readonly sequenceNumber: string };
      readonly table: string;
      readonly snapshots: number;
    }
  | { readonly kind: 'full'; readonly reason: string };

/** The averages of a view, which parts are merged of by sums and counts that its table keeps. */
export type Averages =
  /** `sql` is the view's query, with the sums and counts when there are `columns`. */
  | { readonly kind: 'kept'; readonly sql: string; readonly columns: readonly KeptAverage[] }
  | { readonly kind: 'lost'; readonly reason: string };

/** A view, and the averages of its query. `storedColumns`: names of the columns that its table has, folded. */
export type RefreshedView = Pick<RefreshState, 'viewUuid' | 'viewVersionId' | 'timeZone'> & {
  readonly definition: Pick<ViewDefinition, 'schema'>;
  readonly averages: Averages;
  readonly storedColumns: ReadonlySet<string>;
};

/**
 * Chooses the way from the state of the last refresh to the tables as they are now.
 * @param query the view's query, bound now
 * @param last the state of the view's rows; null when they are not a refresh's
 */
export function refreshWay(
  query: Pick<PreparedQuery, 'plan' | 'noPlan' | 'scans' | 'contextual' | 'columns'>,
  last: RefreshState | null,
  view: RefreshedView,
): RefreshWay {
  if (last === null) return full('there are no rows of a refresh');
  if (last.viewUuid !== view.viewUuid || last.viewVersionId !== view.viewVersionId) return full('the view was changed');
  if (query.contextual) return full('the query depends on the time or the user');
  if (last.timeZone !== view.timeZone) return full('the session has another time zone than at the last refresh');
  const { sources } = last;
  if (sources === null || sourcesOf(query.scans) === null) return full('the query reads more than tables');
  const scans = query.scans as readonly ScanBinding[];
  if (scans.length !== sources.length) return full('the query reads other tables than at the last refresh');
  const changes = scans.map((scan, i) => sourceChange(scan, sources[i] ?? { uuid: '', snapshotId: null, schemaId: 0 }));
  const other = changes.find((change) => change.kind === 'other');
  if (other !== undefined) return full(other.reason);
  const changed = changes.flatMap((change, scan) => (change.kind === 'appended' ? [{ ...change, scan }] : []));
  const [one] = changed;
  if (one === undefined) return { kind: 'current' };
  const { tableUuid, tableName: table } = scans[one.scan] as ScanBinding;
  if (changed.length > 1) return full('more than one table has new rows');
  if (scans.filter((scan) => scan.tableUuid === tableUuid).length > 1) return full(`${table} is read twice`);
  if (query.plan === null) return full(`the query ${query.noPlan}`);
  const shape = viewShape(refreshShape(query.plan, one.scan), query, view);
  if (shape.kind === 'none') return full(shape.reason);
  const since = { tableUuid, sequenceNumber: String(one.afterSequenceNumber) };
  return { kind: 'incremental', shape, since, table, snapshots: one.snapshots };
}

/** The shape with the view's columns in the place of the query's. */
function viewShape(
  shape: RefreshShape,
  { columns: shown }: Pick<PreparedQuery, 'columns'>,
  { definition, averages, storedColumns }: RefreshedView,
): RefreshShape {
  if (shape.kind !== 'merge') return shape;
  const names = shown.map(({ name }) => name);
  const columns = columnsOfView(definition, names, shape.columns);
  if (columns === null) return none('it does not show all columns that it groups by');
  if (!columns.some(({ kind }) => kind === 'average')) return { kind: 'merge', columns };
  if (averages.kind === 'lost') return none(averages.reason);
  const isKept = keptColumns(averages.columns).every(({ name }) => storedColumns.has(name));
  return isKept ? { kind: 'merge', columns } : none('the rows that are there have no sums and counts of its averages');
}

const none = (reason: string): RefreshShape => ({ kind: 'none', reason });
const full = (reason: string): RefreshWay => ({ kind: 'full', reason });
