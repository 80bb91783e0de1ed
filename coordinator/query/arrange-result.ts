import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { must } from '#shared/must.ts';
import type { MadeValue } from '#shared/made-type.ts';
import type { SqlText } from '#shared/task/sql-text.ts';
import type { MadeColumn, MadeRow } from '../binding/made-columns.ts';
import { newPlanMemory } from '../binding/plan-memory.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { Pages } from '../catalog-client/pages.ts';
import type { PagedAnswer } from '../operation/answer.ts';
import type { ResultOrder } from '../operation/result-order.ts';
import type { Order } from '../plan/expression.ts';
import type { Plan } from '../plan/plan.ts';
import { COLLECTED_ROWS_MAX } from '../plan/plan-features.ts';
import type { RunningRequest } from './query-service.ts';

/** The rows that a request asks for, of those that its statement gives. */
type Arrangement = Pick<RunningRequest, 'rowLimit' | 'orderBy'>;

/** Rows of an answer of the coordinator's own that are put in order. */
const ORDERED_ROWS_MAX = 100_000;

/** NULLs come last in both directions, as DuckDB has them. */
const NULLS = 'NULLS LAST';

/**
 * The query with the order and the limit that its request asks for above it, in its plan and in the text of a query that runs whole. It gives
 * one row more than the limit, by which `limited-sink.ts` sees that there are more.
 * ```
 * SELECT a FROM t  ->  SELECT * FROM (SELECT a FROM t) AS t(c0) ORDER BY c0 DESC NULLS LAST LIMIT 101
 * ```
 * @throws COLUMN_NOT_FOUND, AMBIGUOUS_COLUMN
 */
export function arrangedQuery(query: PreparedQuery, { rowLimit, orderBy = [] }: Arrangement): PreparedQuery {
  if (rowLimit === undefined && orderBy.length === 0) return query;
  const orders = orderBy.map((order) => ({ index: indexOf(query.columns, order), descending: order.descending }));
  const limit = rowLimit === undefined ? null : rowLimit + 1;
  const { features } = query;
  return {
    ...query,
    plan: query.plan === null ? null : arrangedPlan(query.plan, query, orders, limit),
    memory: { ...newPlanMemory(), checks: query.memory.checks },
    workerSql: arrangedText(query, orders, limit),
    features: {
      ...features,
      resultRows: Math.min(features.resultRows, limit ?? Infinity),
      selective: features.selective || (limit !== null && limit <= COLLECTED_ROWS_MAX),
    },
  };
}

type Ordered = { readonly index: number; readonly descending: boolean };

function arrangedText(
  { columns, workerSql }: PreparedQuery,
  orders: readonly Ordered[],
  limit: number | null,
): SqlText {
  const names = columns.map((_, i) => `c${i}`).join(', ');
  const keys = orders.map(({ index, descending }) => `c${index} ${descending ? 'DESC' : 'ASC'} ${NULLS}`);
  const orderBy = keys.length === 0 ? '' : ` ORDER BY ${keys.join(', ')}`;
  return ['SELECT * FROM (', ...workerSql, `\n) AS t(${names})${orderBy}${limit === null ? '' : ` LIMIT ${limit}`}`];
}

function arrangedPlan(plan: Plan, { columns }: PreparedQuery, orders: readonly Ordered[], limit: number | null): Plan {
  const keys = orders.map(({ index, descending }): Order => {
    const { name, type } = must(columns[index], 'it was found');
    return { expression: { kind: 'column', index, name, type }, descending, nullsFirst: false };
  });
  const sorted: Plan = keys.length === 0 ? plan : { kind: 'sort', child: plan, orders: keys, projection: null };
  if (limit === null) return sorted;
  return { kind: 'limit', child: sorted, limit: { kind: 'rows', rows: limit }, offset: { kind: 'none' } };
}

/** The rows that the coordinator answers by itself, in the order that the request asks for. @throws as `arrangedQuery`; RESULT_TOO_LARGE */
export function arrangedAnswer(answer: PagedAnswer, { orderBy = [] }: Arrangement): PagedAnswer {
  if (orderBy.length === 0) return answer;
  const keys = orderBy.map((order) => ({ index: indexOf(answer.columns, order), sign: order.descending ? -1 : 1 }));
  const compare = (one: MadeRow, other: MadeRow): number => {
    for (const { index, sign } of keys) {
      const result = compareValues(one[index] ?? null, other[index] ?? null, sign);
      if (result !== 0) return result;
    }
    return 0;
  };
  return { columns: answer.columns, pages: sorted(answer.pages, compare) };
}

async function* sorted(pages: Pages<MadeRow>, compare: (one: MadeRow, other: MadeRow) => number): Pages<MadeRow> {
  const rows: MadeRow[] = [];
  for await (const page of pages) {
    rows.push(...page);
    if (rows.length > ORDERED_ROWS_MAX) {
      const limit = `the statement has more than ${ORDERED_ROWS_MAX} rows, which is too many to order`;
      throw new SkeinError('RESULT_TOO_LARGE', `${limit}: SELECT * FROM (...) can`);
    }
  }
  yield rows.toSorted(compare);
}

function compareValues(one: MadeValue, other: MadeValue, sign: number): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  if (typeof one === 'string' && typeof other === 'string')
    return sign * Buffer.compare(Buffer.from(one), Buffer.from(other));
  if (one === other) return 0;
  return one < other ? -sign : sign;
}

/** @throws NOT_SUPPORTED when the request asks for an order, for a statement that writes and returns rows */
export function requireUnordered({ orderBy }: Arrangement): void {
  if (orderBy !== undefined) throw new SkeinError('NOT_SUPPORTED', 'order_by is for statements that only read');
}

/** The place of a column of the result, which is named as it is, or in another case when only one is named so. */
function indexOf(columns: readonly Pick<MadeColumn, 'name'>[], { column }: ResultOrder): number {
  const all = columns.map(({ name }, index) => ({ name, index }));
  const exact = all.filter(({ name }) => name === column);
  const found = exact.length > 0 ? exact : all.filter(({ name }) => foldIdentifier(name) === foldIdentifier(column));
  const [first, ...others] = found;
  if (first === undefined) {
    throw new SkeinError('COLUMN_NOT_FOUND', `order_by: the result has no column ${JSON.stringify(column)}`);
  }
  if (others.length > 0) {
    throw new SkeinError('AMBIGUOUS_COLUMN', `order_by: the result has several columns ${JSON.stringify(column)}`);
  }
  return first.index;
}
