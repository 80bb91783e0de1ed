import { STORED_TYPE_NAMES, type StoredType } from './argument-types.ts';
import type { Choices } from './choices.ts';
import { RandomExpressions, scopeOf, type Form, type Scope, type UsableCalls } from './random-expressions.ts';
import type { RandomTable } from './random-tables.ts';

/** A statement over random tables with served functions in all places. */
export type RandomStatement = {
  readonly sql: string;
  /** Signatures of the functions that it calls. */
  readonly signatures: readonly string[];
};

/** Joins without equal keys stay small. */
const FEW_ROWS = 60;

export function randomStatement(
  choices: Choices,
  { tables, calls }: { readonly tables: readonly RandomTable[]; readonly calls: UsableCalls },
  form: Form,
): RandomStatement {
  const made = new RandomExpressions(choices, calls, form);
  const filled = tables.filter(({ rows }) => rows > 1);
  const shape = choices.pick(SHAPES);
  const table = (): RandomTable => {
    const isAny = choices.chance(40) && form.isFiltered;
    return choices.pick(isAny ? tables : filled);
  };
  const sql = shape({ choices, made, form, table });
  return { sql, signatures: [...made.signatures] };
}

type Tools = {
  readonly choices: Choices;
  readonly made: RandomExpressions;
  readonly form: Form;
  readonly table: () => RandomTable;
};
type Shape = (tools: Tools) => string;

const list = (choices: Choices, max: number, make: () => string): readonly string[] =>
  Array.from({ length: 1 + choices.below(max) }, make);

/** `t0`, filtered or not. */
function source({ choices, made, form, table }: Tools, alias = 't0'): { readonly from: string; readonly scope: Scope } {
  const one = table();
  const scope = scopeOf(one, alias);
  const where = choices.chance(3) && form.isFiltered ? ` WHERE ${made.condition(scope)}` : '';
  return { from: `FROM ${one.name} AS ${alias}${where}`, scope };
}

const rows: Shape = (tools) => {
  const { from, scope } = source(tools);
  const values = list(tools.choices, 5, () => tools.made.any(scope));
  return `SELECT ${scope.id}, ${values.join(', ')} ${from}`;
};

const ordered: Shape = (tools) => {
  const { from, scope } = source(tools);
  const value = tools.made.any(scope);
  const order = `${tools.made.key(scope)} ${tools.choices.pick(['', 'DESC', 'NULLS FIRST'])}`;
  return `SELECT ${scope.id}, ${value} ${from} ORDER BY ${order}, ${scope.id} LIMIT ${1 + tools.choices.below(40)}`;
};

const groups: Shape = (tools) => {
  const { from, scope } = source(tools);
  const keys = list(tools.choices, 2, () => tools.made.key(scope));
  const calls = list(tools.choices, 3, () => tools.made.aggregate(scope));
  const sets = tools.choices.chance(6) ? `ROLLUP (${keys.join(', ')})` : keys.join(', ');
  const having = tools.choices.chance(6) ? ' HAVING count(*) > 1' : '';
  return `SELECT ${keys.map(shown).join(', ')}, ${calls.join(', ')} ${from} GROUP BY ${sets}${having}`;
};

/** A group of values that are equal under a collation may be represented by any of them, so its key is not shown. */
const shown = (key: string): string => (key.includes(' COLLATE ') ? 'count(*)' : key);

const whole: Shape = (tools) => {
  const { from, scope } = source(tools);
  return `SELECT ${list(tools.choices, 4, () => tools.made.aggregate(scope)).join(', ')} ${from}`;
};

const windows: Shape = (tools) => {
  const { from, scope } = source(tools);
  const calls = list(tools.choices, 2, () => tools.made.window(scope));
  return `SELECT ${scope.id}, ${calls.join(', ')} ${from}`;
};

const distinct: Shape = (tools) => {
  const { from, scope } = source(tools);
  const values = list(tools.choices, 3, () => tools.made.any(scope)).join(', ');
  return tools.choices.chance(2)
    ? `SELECT count(DISTINCT row(${values}, 1)), count(*) ${from}`
    : `SELECT DISTINCT ${values} ${from}`;
};

const JOINS = ['JOIN', 'LEFT JOIN', 'FULL JOIN', 'SEMI JOIN', 'ANTI JOIN'] as const;

/** Two tables, by keys of any type. */
const joined: Shape = (tools) => {
  const { choices, made } = tools;
  const [left, right] = [tools.table(), tools.table()];
  const [a, b] = [scopeOf(left, 'a'), scopeOf(right, 'b')];
  const type = choices.pick(JOINS);
  const operator = choices.pick(['=', 'IS NOT DISTINCT FROM']);
  const near = `a.id % 20 ${operator} b.id % 20 AND a.id < ${FEW_ROWS * 10} AND b.id < ${FEW_ROWS * 10}`;
  const key = choices.pick(COMMON_KEYS)(tools, a, b, operator);
  const values = type === 'SEMI JOIN' || type === 'ANTI JOIN' ? '' : `, b.id, ${made.any(b)}`;
  return `SELECT a.id, ${made.any(a)}${values} FROM ${left.name} AS a ${type} ${right.name} AS b ON ${key} AND ${near}`;
};

type Key = (tools: Tools, a: Scope, b: Scope, operator: string) => string;

const typed: Key = ({ choices, made }, a, b, operator) => {
  const type = choices.pick(STORED_TYPE_NAMES);
  return `${made.value(type, a, 1)} ${operator} ${made.value(type, b, 1)}`;
};

const COMMON_KEYS: readonly Key[] = [
  typed,
  (_tools, _a, _b, operator) => `row(a.id % 7, 'k') ${operator} row(b.id % 7, 'k')`,
  ({ made }, a, b, operator) =>
    `${made.value('VARCHAR', a, 1)} COLLATE NOCASE ${operator} ${made.value('VARCHAR', b, 1)}`,
  ({ made }, a, b) => `(${made.condition(a, 1)} OR ${made.condition(b, 1)})`,
];

/** Two small tables, by an order. */
const unequal: Shape = ({ choices, made, table }) => {
  const [left, right] = [table(), table()];
  const [a, b] = [scopeOf(left, 'a'), scopeOf(right, 'b')];
  const type = choices.pick<StoredType>(['INTEGER', 'VARCHAR', 'DATE', 'TIMESTAMP', 'DECIMAL(9,2)', 'DOUBLE']);
  const residual = choices.chance(2) ? ` AND ${made.condition(a, 1)}` : '';
  const operator = choices.pick(['<', '>=', '<>']);
  return `SELECT a.id, b.id, ${made.any(b)} FROM (FROM ${left.name} WHERE id < ${FEW_ROWS}) AS a ${choices.pick(['JOIN', 'LEFT JOIN'])}
    (FROM ${right.name} WHERE id < ${FEW_ROWS}) AS b ON ${made.value(type, a, 1)} ${operator} ${made.value(type, b, 1)}${residual}`;
};

/** An as-of join, with keys or without; its order has no ties. */
const asOf: Shape = ({ choices, made, table }) => {
  const [left, right] = [table(), table()];
  const [a, b] = [scopeOf(left, 'a'), scopeOf(right, 'b')];
  const keys = choices.pick(['', 'a.id % 3 = b.id % 3 AND ', "row(a.id % 2, 'x') = row(b.id % 2, 'x') AND "]);
  const order = choices.pick([
    `a.id ${choices.pick(['>=', '<'])} b.id`,
    "(DATE '2020-01-01' + a.id::INTEGER) >= (DATE '2020-01-01' + b.id::INTEGER)",
  ]);
  return `SELECT a.id, b.id, ${made.any(a)}, ${made.any(b)} FROM ${left.name} AS a ASOF ${choices.pick(['JOIN', 'LEFT JOIN'])} ${right.name} AS b ON ${keys}${order}`;
};

const SET_OPERATORS = ['UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT', 'EXCEPT ALL'] as const;

const setOperation: Shape = (tools) => {
  const { choices, made } = tools;
  const types = Array.from({ length: 1 + choices.below(2) }, () => choices.pick(STORED_TYPE_NAMES));
  const side = (): string => {
    const { from, scope } = source(tools);
    return `SELECT row(${scope.id} % 10, 1) AS r, ${types.map((type) => made.value(type, scope, 1)).join(', ')} ${from}`;
  };
  return `${side()} ${choices.pick(SET_OPERATORS)} ${side()}`;
};

const subquery: Shape = (tools) => {
  const { choices, made } = tools;
  const { from, scope } = source(tools);
  const inner = source(tools, 'i');
  const type = choices.pick(STORED_TYPE_NAMES);
  const condition = choices.pick([
    `row(${scope.id} % 9, 'x') IN (SELECT row(i.id, 'x') ${inner.from})`,
    `${made.value(type, scope, 1)} ${choices.pick(['', 'NOT '])}IN (SELECT ${made.value(type, inner.scope, 1)} ${inner.from})`,
    `(SELECT max(${made.value(type, inner.scope, 1)}) ${inner.from}) IS NOT NULL`,
  ]);
  return `SELECT ${scope.id}, ${made.any(scope)}, coalesce(${condition}, false) ${from}`;
};

const unnested: Shape = (tools) => {
  const { from, scope } = source(tools);
  const type = tools.choices.pick<StoredType>(['INTEGER[]', 'VARCHAR[]', 'DOUBLE[]']);
  return `SELECT ${scope.id}, unnest(${tools.made.value(type, scope)}), ${tools.made.any(scope)} ${from}`;
};

const SHAPES: readonly Shape[] = [
  rows,
  groups,
  windows,
  whole,
  joined,
  rows,
  groups,
  unequal,
  asOf,
  distinct,
  ordered,
  setOperation,
  subquery,
  unnested,
];
