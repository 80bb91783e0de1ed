import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import type { Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { DuckdbEngine } from '#test/slt/duckdb-engine.ts';
import type { EngineAnswer } from '#test/slt/engine.ts';
import { bagDifferences } from '#test/support/compare-rows.ts';
import { STORED_TYPE_NAMES, storedValue, type StoredType } from './argument-types.ts';
import { fillCall, type ServedCall } from './served-calls.ts';

/**
 * Makes one call of each served function with each type of its arguments, over a table with two columns of every type. The calls of a
 * function form one statement, `SELECT key, call, call, ... FROM calls`; when an engine fails at it, each call is sent alone.
 */

/** The form of a call: for every row, for every group, or as a window function. */
export type CallForm = 'rows' | 'groups' | 'window';

/** A call that plain DuckDB answers. */
export type FilledCall = ServedCall & { readonly form: CallForm; readonly sql: string };

/** Sends a statement to an engine. */
export type Ask = (sql: string) => Promise<EngineAnswer>;

const ROWS = 36;
const GROUPS = 4;
const columnOf = (type: StoredType, at: number): string =>
  `${at % 2 === 0 ? 'x' : 'y'}${STORED_TYPE_NAMES.indexOf(type)}`;

/** The table of all types: a key, a group of nine rows, and `x` and `y` columns. */
export function functionTableSql(name: string): string {
  const columns = STORED_TYPE_NAMES.flatMap((type) => [
    `${storedValue(type, 'n')} AS ${columnOf(type, 0)}`,
    `${storedValue(type, '(n + 5)')} AS ${columnOf(type, 1)}`,
  ]);
  return `CREATE TABLE ${name} AS SELECT n::INTEGER AS id, (n % ${GROUPS})::INTEGER AS g, ${columns.join(', ')} FROM range(1, ${ROWS + 1}) r(n)`;
}

/** The calls in the forms that DuckDB answers; a scalar one that fails on a row stands within TRY. */
export async function filledCalls(calls: readonly ServedCall[], ask: Ask): Promise<readonly FilledCall[]> {
  const wanted = calls.flatMap((call) => {
    const text = columnsOfCall(call);
    if (text === undefined) return [];
    return (call.kind === 'scalar' ? scalarForms(text) : aggregateForms(text)).map((forms) => ({ call, forms }));
  });
  const isAnswered = new Map<Form, boolean>();
  const firsts = wanted.map(({ forms }) => must(forms[0], 'a form'));
  const thens = (): readonly Form[] =>
    wanted.flatMap(({ forms: [first, ...others] }) => (first !== undefined && isAnswered.get(first) ? [] : others));
  for (const round of [() => firsts, thens]) {
    for (const batch of batches(round(), ASKED_AT_ONCE, ({ form }) => form)) {
      for (const [i, answered] of (await areAnswered(batch, ask)).entries()) {
        isAnswered.set(must(batch[i], 'a form for each answer'), answered);
      }
    }
  }
  return wanted.flatMap(({ call, forms }) => {
    const form = forms.find((one) => isAnswered.get(one));
    return form === undefined ? [] : [{ ...call, ...form }];
  });
}

/** The call with columns of a table's rows as its arguments; undefined when one has a type that is not known. */
export function columnsOfCall(call: ServedCall, table?: string): string | undefined {
  const seen = new Map<StoredType, number>();
  return fillCall(call.text, (type) => {
    const at = seen.get(type) ?? 0;
    seen.set(type, at + 1);
    return table === undefined ? columnOf(type, at) : `${table}.${columnOf(type, at)}`;
  });
}

/** Whether DuckDB answers each of the forms; most do, so they are asked together, and by halves when that fails. */
async function areAnswered(forms: readonly Form[], ask: Ask): Promise<readonly boolean[]> {
  if ((await ask(statementOf(forms))).kind === 'rows') return forms.map(() => true);
  if (forms.length === 1) return [false];
  const half = Math.ceil(forms.length / 2);
  return [...(await areAnswered(forms.slice(0, half), ask)), ...(await areAnswered(forms.slice(half), ask))];
}
const ASKED_AT_ONCE = 16;

type Form = Pick<FilledCall, 'form' | 'sql'>;

/** Alternative forms of a scalar call: the first that DuckDB answers is used. */
const scalarForms = (text: string): readonly (readonly Form[])[] => [
  [
    { form: 'rows', sql: text },
    { form: 'rows', sql: `TRY(${text})` },
  ],
];

/** Whether the call is an aggregate whose input has an order of its own. */
export const isOrdered = ({ form, sql }: FilledCall): boolean => form === 'groups' && sql.endsWith(ORDER);
const ORDER = ' ORDER BY id)';

function aggregateForms(text: string): readonly (readonly Form[])[] {
  const ordered = `${text.slice(0, -1)}${ORDER}`;
  return [
    [{ form: 'groups', sql: text }],
    ...(text.endsWith('()') ? [] : ([[{ form: 'groups', sql: ordered }]] as const)),
    [{ form: 'window', sql: `${text} OVER (PARTITION BY g ORDER BY id)` }],
  ];
}

/** A statement of calls of one form over `table`. */
export function statementOf(
  calls: readonly { readonly form: CallForm; readonly sql: string }[],
  table = 'calls',
): string {
  const { form } = must(calls[0], 'a call');
  const list = calls.map(({ sql }, i) => `${sql} AS c${i}`).join(', ');
  return form === 'groups' ? `SELECT g, ${list} FROM ${table} GROUP BY g` : `SELECT id, ${list} FROM ${table}`;
}

/** Batches of at most `size` calls with the same key. */
export function batches<T>(calls: readonly T[], size: number, keyOf: (one: T) => string): readonly (readonly T[])[] {
  return [...Map.groupBy(calls, keyOf).values()].flatMap((same) =>
    Array.from({ length: Math.ceil(same.length / size) }, (_, at) => same.slice(at * size, (at + 1) * size)),
  );
}

/**
 * The aggregates of a statement are either all computed in two steps or none is. So the aggregates of one function form batches, and
 * ordered ones, which have no two steps, form others.
 */
export const batchKey = (call: FilledCall): string =>
  call.form === 'rows' ? 'rows' : `${call.form} ${call.name} ${isOrdered(call)}`;

/** `isSame` is false for a call whose answer in DuckDB itself depends on the order of rows. */
export type CallResult = { readonly call: FilledCall; readonly difference: string | null; readonly isSame: boolean };

/** A NULL list that is read from Parquet has a NULL element, at which the distances of lists fail (`docs/duckdb.md`). */
const REFUSED_OVER_FILES = /argument can not contain NULL values$/;

/** Compares engines call by call with `expected`, which has the tables of `functionTableSql` and `reorderedSql`. */
export async function compareCalls(
  calls: readonly FilledCall[],
  actual: readonly Ask[],
  expected: Ask,
): Promise<readonly CallResult[]> {
  const sql = statementOf(calls);
  const wanted = await expected(sql);
  const answers = wanted.kind === 'error' ? [] : await Promise.all(actual.map((ask) => ask(sql)));
  if ((wanted.kind === 'error' || answers.some(({ kind }) => kind === 'error')) && calls.length > 1) {
    const each: CallResult[] = [];
    for (const call of calls) each.push(...(await compareCalls([call], actual, expected)));
    return each;
  }
  // DuckDB refuses some calls over Parquet files that it accepts over its own tables.
  if (wanted.kind === 'error') return calls.map((call) => ({ call, difference: null, isSame: false }));
  const results: CallResult[] = [];
  for (const [i, call] of calls.entries()) {
    for (const got of answers) {
      if (got.kind === 'error' && REFUSED_OVER_FILES.test(got.message)) continue;
      const difference =
        got.kind === 'error' ? got.message : bagDifferences(columnsOf(got.rows, i + 1), columnsOf(wanted.rows, i + 1));
      const isFree = difference === null || got.kind === 'error' || (await isOrderFree(call, expected));
      results.push({ call, difference: isFree ? difference : null, isSame: difference === null });
    }
  }
  return results;
}

const columnsOf = (rows: readonly (readonly Json[])[], column: number): readonly (readonly Json[])[] =>
  rows.map((row) => [row[0] ?? null, row[column] ?? null]);

/** The same rows in other orders. */
const ORDERS = {
  calls_backwards: 'id DESC',
  calls_mixed: 'hash(id)',
  calls_mixed_again: 'hash(id + 100)',
  calls_by_group: 'g, hash(id + 1000)',
} as const;
export const reorderedSql: readonly string[] = Object.entries(ORDERS).map(
  ([name, order]) => `CREATE TABLE ${name} AS FROM calls ORDER BY ${order}`,
);

/** Whether DuckDB gives the same rows for a call when the table's rows have another order. */
async function isOrderFree(call: FilledCall, duckdb: Ask): Promise<boolean> {
  const wanted = await duckdb(statementOf([call]));
  for (const table of Object.keys(ORDERS)) {
    const got = await duckdb(statementOf([call], table));
    if (wanted.kind === 'error' || got.kind === 'error' || bagDifferences(got.rows, wanted.rows) !== null) return false;
  }
  return true;
}

/** A DuckDB with only the table of functions; it answers faster than one over files. */
export async function functionTable(): Promise<{ readonly connection: DuckDBConnection; readonly ask: Ask }> {
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
  await connection.run("SET TimeZone = 'UTC'; CREATE SCHEMA o; USE o");
  for (const sql of [functionTableSql('calls'), ...reorderedSql]) await connection.run(sql);
  const engine = new DuckdbEngine(connection);
  return { connection, ask: (sql) => engine.run(sql) };
}
