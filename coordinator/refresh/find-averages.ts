import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { Queries } from '../operation/queries.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import { printSqlType } from '../plan/sql-type.ts';
import { ownQuery, type ViewDefinition } from '../binding/view-definition.ts';
import { columnsOfView, keptAverages, keptColumns, type KeptAverage } from './kept-averages.ts';
import { refreshShape } from './refresh-shape.ts';
import type { Averages } from './refresh-way.ts';
import { withSums } from './with-sums.ts';

/**
 * Finds how the averages of a view are kept, if parts of its groups can be merged after new rows of any of its tables.
 * @param planned the view's query
 * @throws as planning does, but for what is wrong with the query that was made here: it is `lost`
 */
export async function findAverages(
  view: ViewDefinition,
  planned: PreparedQuery,
  queries: Pick<Queries, 'plan'>,
): Promise<Averages> {
  const sql = ownQuery(view);
  const { plan, contextual } = planned;
  const nothing: Averages = { kind: 'kept', sql, columns: [] };
  if (plan === null || contextual) return nothing;
  const shape = planned.scans.map((_, scan) => refreshShape(plan, scan)).find(({ kind }) => kind === 'merge');
  if (shape?.kind !== 'merge' || !shape.columns.some(({ kind }) => kind === 'average')) return nothing;
  const names = planned.columns.map(({ name }) => name);
  const columns = columnsOfView(view, names, shape.columns);
  if (columns === null) return nothing;
  const averages = keptAverages(view, columns);
  if (averages === null) return lost('a column of the view has the name of those that are kept for its averages');
  const places = names.map(foldIdentifier);
  const summed = averages.map((average) => ({ ...average, place: places.indexOf(foldIdentifier(average.column)) }));
  const text = withSums(sql, summed, names.length);
  const isRight = text !== null && (await hasSums({ text, planned, averages }, queries));
  return isRight ? { kind: 'kept', sql: text, columns: averages } : lost(NOT_WRITTEN);
}

const NOT_WRITTEN = 'its averages are not written as avg(...) AS name in the outermost SELECT';
const lost = (reason: string): Averages => ({ kind: 'lost', reason });

/** Whether the text gives the columns of the query, and behind them the sums and counts. */
async function hasSums(
  found: {
    readonly text: string;
    readonly planned: PreparedQuery;
    readonly averages: readonly KeptAverage[];
  },
  queries: Pick<Queries, 'plan'>,
): Promise<boolean> {
  const wanted = [
    ...found.planned.columns.map(({ name, type }) => `${name} ${printSqlType(type)}`),
    ...keptColumns(found.averages).map(({ name, type }) => `${name} ${type}`),
  ];
  try {
    const { columns } = (await queries.plan({ text: found.text, offset: 0 })).planned;
    const given = columns.map(({ name, type }) => `${name} ${printSqlType(type)}`);
    return JSON.stringify(given) === JSON.stringify(wanted);
  } catch (error) {
    if (SkeinError.of(error).entry.kind === 'user') return false;
    throw error;
  }
}
