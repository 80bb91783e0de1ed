import fc, { type Arbitrary } from 'fast-check';
import { unreachable } from '#shared/must.ts';
import type { Form } from './random-expressions.ts';

/**
 * Random queries as data, so that fast-check can shrink them; `printQuery` makes the text. Every one is deterministic as a bag of rows:
 * LIMIT is applied to an order by all columns, and no aggregate depends on the order of its input.
 */
type Source =
  | { readonly kind: 'table'; readonly table: Table }
  | { readonly kind: 'query'; readonly query: Block }
  | { readonly kind: 'join'; readonly type: Join; readonly left: Source; readonly right: Source; readonly on: JoinOn };

type Block = {
  readonly source: Source;
  readonly where: readonly Condition[];
  readonly shape: Shape;
};

type Shape =
  | { readonly kind: 'rows'; readonly distinct: boolean; readonly limit: number | null; readonly offset: number }
  | {
      readonly kind: 'group';
      readonly keys: readonly Column[];
      readonly sets: Sets;
      readonly calls: readonly Aggregate[];
    }
  | {
      readonly kind: 'window';
      readonly partition: readonly Column[];
      readonly call: string;
      readonly keepFirst: boolean;
    };

export type RandomQuery =
  | { readonly kind: 'block'; readonly block: Block }
  | { readonly kind: 'set'; readonly operator: SetOperator; readonly left: Block; readonly right: Block }
  | { readonly kind: 'cte'; readonly definition: Block; readonly on: Column }
  | { readonly kind: 'distinctOn'; readonly block: Block; readonly on: Column };

const TABLES = ['empty_t', 'one_t', 'nulls_t', 'small_t', 'skewed_t', 'wide_t'] as const;
type Table = (typeof TABLES)[number];
const FILLED_TABLES: readonly Table[] = ['small_t', 'skewed_t', 'wide_t'];
const COLUMNS = ['k', 'b', 's', 'd', 'm', 'f'] as const;
const JOINS = [
  'JOIN',
  'LEFT JOIN',
  'RIGHT JOIN',
  'FULL JOIN',
  'SEMI JOIN',
  'ANTI JOIN',
  'CROSS JOIN',
  'ASOF JOIN',
  'ASOF LEFT JOIN',
] as const;
const SETS = ['plain', 'rollup', 'cube'] as const;
const SET_OPERATORS = ['UNION', 'UNION ALL', 'INTERSECT', 'INTERSECT ALL', 'EXCEPT', 'EXCEPT ALL'] as const;
type Column = (typeof COLUMNS)[number];
type Join = (typeof JOINS)[number];
type Sets = (typeof SETS)[number];
type SetOperator = (typeof SET_OPERATORS)[number];

type JoinOn = { readonly columns: readonly Column[]; readonly nullSafe: boolean; readonly residual: boolean };

type Condition =
  | { readonly kind: 'compare'; readonly column: Column; readonly op: string; readonly constant: number }
  | { readonly kind: 'isNull'; readonly column: Column; readonly negated: boolean }
  | {
      readonly kind: 'in';
      readonly column: Column;
      readonly negated: boolean;
      readonly table: Table;
      readonly where: number;
    }
  | {
      readonly kind: 'exists';
      readonly column: Column;
      readonly negated: boolean;
      readonly table: Table;
      readonly where: number;
    }
  | { readonly kind: 'scalar'; readonly table: Table; readonly correlated: boolean; readonly call: string }
  | { readonly kind: 'orIn'; readonly column: Column; readonly table: Table };

type Aggregate = { readonly call: string; readonly filter: boolean };

/** Aggregates with exact results, which do not depend on the order of addition. */
const AGGREGATES = [
  'count(*)',
  'count(k)',
  'count(DISTINCT k)',
  'count(DISTINCT s)',
  'sum(b)',
  'sum(m)',
  'sum(DISTINCT b)',
  'avg(b)',
  'avg(m)',
  'min(s)',
  'max(d)',
  'min(k)',
  'max(m)',
  'bool_and(f)',
  'bool_or(f)',
  'arg_max(b, b)',
  'median(b)',
  'quantile_cont(m, 0.25)',
  "string_agg(s, ',' ORDER BY s)",
  'list_sort(list(k))',
  'stddev_samp(k)',
  'bit_xor(b)',
  'approx_count_distinct(k) > 0',
] as const;
const WINDOW_CALLS = [
  'row_number()',
  'rank()',
  'dense_rank()',
  'sum(b)',
  'count(*)',
  'lag(b)',
  'first_value(b)',
  'ntile(3)',
] as const;

const column = fc.constantFrom(...COLUMNS);
/** Tables of many rows come more often, or too many queries would have none. */
const table = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...TABLES) },
  { weight: 5, arbitrary: fc.constantFrom<Table>(...FILLED_TABLES) },
);
const constant = fc.integer({ min: 0, max: 20 });

const condition: Arbitrary<Condition> = fc.oneof(
  fc.record({
    kind: fc.constant('compare' as const),
    column,
    op: fc.constantFrom('=', '<', '>=', '<>', 'IS DISTINCT FROM'),
    constant,
  }),
  fc.record({ kind: fc.constant('isNull' as const), column, negated: fc.boolean() }),
  fc.record({ kind: fc.constant('in' as const), column, negated: fc.boolean(), table, where: constant }),
  fc.record({ kind: fc.constant('exists' as const), column, negated: fc.boolean(), table, where: constant }),
  fc.record({
    kind: fc.constant('scalar' as const),
    table,
    correlated: fc.boolean(),
    call: fc.constantFrom('max(b)', 'count(*)', 'sum(b)', 'min(b)'),
  }),
  fc.record({ kind: fc.constant('orIn' as const), column, table }),
);

const joinOn: Arbitrary<JoinOn> = fc.record({
  columns: fc.uniqueArray(fc.constantFrom<Column>('k', 's', 'd', 'f'), { minLength: 1, maxLength: 2 }),
  nullSafe: fc.boolean(),
  residual: fc.boolean(),
});

const { block } = fc.letrec<{ block: Block; source: Source }>((tie) => ({
  source: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ kind: fc.constant('table' as const), table }),
    fc.record({
      kind: fc.constant('join' as const),
      type: fc.constantFrom(...JOINS),
      left: tie('source'),
      right: fc.record({ kind: fc.constant('table' as const), table }),
      on: joinOn,
    }),
    fc.record({ kind: fc.constant('query' as const), query: tie('block') }),
  ),
  block: fc.record({
    source: tie('source'),
    where: fc.array(condition, { maxLength: 2 }),
    shape: fc.oneof(
      fc.record({
        kind: fc.constant('rows' as const),
        distinct: fc.boolean(),
        limit: fc.option(fc.integer({ min: 1, max: 30 })),
        offset: fc.integer({ min: 0, max: 5 }),
      }),
      fc.record({
        kind: fc.constant('group' as const),
        keys: fc.uniqueArray(column, { maxLength: 3 }),
        sets: fc.constantFrom(...SETS),
        calls: fc.array(fc.record({ call: fc.constantFrom(...AGGREGATES), filter: fc.boolean() }), {
          minLength: 1,
          maxLength: 3,
        }),
      }),
      fc.record({
        kind: fc.constant('window' as const),
        partition: fc.uniqueArray(column, { maxLength: 2 }),
        call: fc.constantFrom(...WINDOW_CALLS),
        keepFirst: fc.boolean(),
      }),
    ),
  }),
}));

export const randomQuery: Arbitrary<RandomQuery> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('block' as const), block }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('set' as const),
      operator: fc.constantFrom(...SET_OPERATORS),
      left: block,
      right: block,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cte' as const), definition: block, on: column }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('distinctOn' as const), block, on: column }) },
);

/** The query in a form: without its conditions, then also without what joins, offsets and set operations may leave without a row. */
export function simplerQuery(query: RandomQuery, form: Form): RandomQuery {
  if (form.isFiltered) return query;
  const simpler = (one: Block): Block => simplerBlock(one, form);
  switch (query.kind) {
    case 'block':
    case 'distinctOn':
      return { ...query, block: simpler(query.block) };
    case 'set':
      if (form.isTypical) return { kind: 'block', block: simpler(query.left) };
      return { ...query, left: simpler(query.left), right: simpler(query.right) };
    case 'cte':
      return { ...query, definition: simpler(query.definition) };
    default:
      return unreachable(query);
  }
}

const simplerBlock = ({ source, shape }: Block, form: Form): Block => ({
  source: simplerSource(source, form),
  where: [],
  shape: form.isTypical && shape.kind === 'rows' ? { ...shape, offset: 0 } : shape,
});

function simplerSource(source: Source, form: Form): Source {
  switch (source.kind) {
    case 'table':
      return form.isTypical && !FILLED_TABLES.includes(source.table) ? { kind: 'table', table: 'small_t' } : source;
    case 'query':
      return { kind: 'query', query: simplerBlock(source.query, form) };
    case 'join': {
      const type = form.isTypical ? 'LEFT JOIN' : source.type;
      return { ...source, type, left: simplerSource(source.left, form), right: simplerSource(source.right, form) };
    }
    default:
      return unreachable(source);
  }
}

/** Every block gives the same six columns, so that blocks nest and meet in set operations. */
export function printQuery(query: RandomQuery): string {
  switch (query.kind) {
    case 'block':
      return printBlock(query.block);
    case 'set':
      return `(${printBlock(query.left)}) ${query.operator} (${printBlock(query.right)})`;
    case 'cte': {
      const on = `x.${query.on} IS NOT DISTINCT FROM y.${query.on}`;
      return `WITH c AS MATERIALIZED (${printBlock(query.definition)}) SELECT x.k, count(*) AS b, max(y.s) AS s, min(x.d) AS d, sum(y.m) AS m, bool_or(x.f) AS f FROM c AS x JOIN c AS y ON ${on} GROUP BY x.k`;
    }
    case 'distinctOn':
      return `SELECT DISTINCT ON (${query.on}) * FROM (${printBlock(query.block)}) AS q ORDER BY ${query.on}, ${ALL_ORDERED}`;
    default:
      return unreachable(query);
  }
}

const ALL_ORDERED = COLUMNS.join(', ');

function printBlock({ source, where, shape }: Block): string {
  const from = `FROM ${printSource(source, 'q')}`;
  const filter = where.length === 0 ? '' : ` WHERE ${where.map(printCondition).join(' AND ')}`;
  switch (shape.kind) {
    case 'rows': {
      const rows = `SELECT ${shape.distinct ? 'DISTINCT ' : ''}${ALL_ORDERED} ${from}${filter}`;
      if (shape.limit === null) return rows;
      return `${rows} ORDER BY ${ALL_ORDERED} LIMIT ${shape.limit} OFFSET ${shape.offset}`;
    }
    case 'group':
      return printGroup(shape, `${from}${filter}`);
    case 'window': {
      const partition = shape.partition.length === 0 ? '' : `PARTITION BY ${shape.partition.join(', ')} `;
      const over = `${shape.call} OVER (${partition}ORDER BY ${ALL_ORDERED})`;
      const keep = shape.keepFirst ? ` QUALIFY row_number() OVER (${partition}ORDER BY ${ALL_ORDERED}) <= 2` : '';
      return `SELECT k, (${over})::BIGINT AS b, s, d, m, f ${from}${filter}${keep}`;
    }
    default:
      return unreachable(shape);
  }
}

/** Prints a grouped block: keys keep their columns, and all aggregates become one text in `s`, so that the block has the six columns. */
function printGroup({ keys, sets, calls }: Extract<Shape, { kind: 'group' }>, rest: string): string {
  const texts = calls.map(
    ({ call, filter }) =>
      `${call}${filter && !call.includes(' > ') && !call.startsWith('list_sort') ? ' FILTER (WHERE f)' : ''}`,
  );
  const summary = `concat_ws('|', ${texts.map((text) => `coalesce((${rounded(text)})::VARCHAR, '-')`).join(', ')})`;
  const others = COLUMNS.map((name) => {
    if (name === 's') return `${keys.includes('s') ? "coalesce(s, '-') || ': ' || " : ''}${summary} AS s`;
    return keys.includes(name) ? name : `NULL::${TYPES[name]} AS ${name}`;
  });
  const list = keys.join(', ');
  const group = keys.length === 0 ? '' : ` GROUP BY ${sets === 'plain' ? list : `${sets.toUpperCase()} (${list})`}`;
  return `SELECT ${others.join(', ')} ${rest}${group}`;
}

/** Rounds doubles, so that the order of addition does not change the result. */
const rounded = (text: string): string =>
  /^(avg|median|quantile|stddev)/.test(text) ? `round((${text})::DOUBLE, 6)` : text;

const TYPES = { k: 'INTEGER', b: 'BIGINT', d: 'DATE', m: 'DECIMAL(9, 2)', f: 'BOOLEAN' } as const;

function printSource(source: Source, alias: string): string {
  switch (source.kind) {
    case 'table':
      return `${source.table} AS ${alias}`;
    case 'query':
      return `(${printBlock(source.query)}) AS ${alias}`;
    case 'join':
      return `(${printJoin(source)}) AS ${alias}`;
    default:
      return unreachable(source);
  }
}

function printJoin({ type, left, right, on }: Extract<Source, { kind: 'join' }>): string {
  const sides = `${printSource(left, 'l')} ${type} ${printSource(right, 'r')}`;
  if (type === 'CROSS JOIN')
    return `SELECT l.k, r.b, l.s, r.d, l.m, r.f FROM (SELECT * FROM ${printSource(left, 'l0')} WHERE b % 100 < 3) AS l CROSS JOIN (SELECT * FROM ${printSource(right, 'r0')} WHERE b % 50 < 2) AS r`;
  if (type === 'ASOF JOIN' || type === 'ASOF LEFT JOIN') return printAsof(sides, on);
  const equals = on.columns.map((name) => `l.${name} ${on.nullSafe ? 'IS NOT DISTINCT FROM' : '='} r.${name}`);
  // Few matches for each row, or the skewed table against itself gives millions.
  const close = ['l.b % 40 = r.b % 40', ...(on.residual ? ['l.m < r.m'] : [])];
  const condition = [...equals, ...close].join(' AND ');
  const columns =
    type === 'SEMI JOIN' || type === 'ANTI JOIN' ? 'l.*' : 'l.k, r.b, coalesce(l.s, r.s) AS s, r.d, l.m, r.f';
  return `SELECT ${columns} FROM ${sides} ON ${condition}`;
}

/** The right side gives only the value by which the row was chosen: several rows may have it. */
function printAsof(sides: string, { columns, residual }: JoinOn): string {
  const equals = columns.map((name) => `l.${name} = r.${name}`);
  const condition = [...equals, 'l.b >= r.b', ...(residual ? ['l.b % 7 <> r.b % 5'] : [])].join(' AND ');
  return `SELECT l.k, r.b, l.s, l.d, l.m, l.f FROM ${sides} ON ${condition}`;
}

function printCondition(condition: Condition): string {
  switch (condition.kind) {
    case 'compare':
      return `${condition.column} ${condition.op} ${literal(condition.column, condition.constant)}`;
    case 'isNull':
      return `${condition.column} IS ${condition.negated ? 'NOT ' : ''}NULL`;
    case 'in':
      return `${condition.column} ${condition.negated ? 'NOT ' : ''}IN (SELECT ${condition.column} FROM ${condition.table} WHERE b > ${condition.where * 10})`;
    case 'exists':
      return `${condition.negated ? 'NOT ' : ''}EXISTS (SELECT 1 FROM ${condition.table} AS i WHERE i.${condition.column} = q.${condition.column} AND i.b > ${condition.where * 10})`;
    case 'scalar':
      return `coalesce(b, 0) <= (SELECT ${condition.call} FROM ${condition.table} AS i${condition.correlated ? ' WHERE i.k = q.k' : ''})`;
    case 'orIn':
      return `(f OR ${condition.column} IN (SELECT ${condition.column} FROM ${condition.table}))`;
    default:
      return unreachable(condition);
  }
}

function literal(name: Column, value: number): string {
  switch (name) {
    case 'k':
    case 'b':
      return String(value);
    case 's':
      return `'s${value}'`;
    case 'd':
      return `DATE '2020-01-01' + ${value}`;
    case 'm':
      return `${value}.25`;
    case 'f':
      return String(value % 2 === 0);
    default:
      return unreachable(name);
  }
}
