import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import type { Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { DuckdbEngine } from '#test/slt/duckdb-engine.ts';
import type { EngineAnswer } from '#test/slt/engine.ts';
import { bagDifferences } from '#test/support/compare-rows.ts';
import { STORED_TYPE_NAMES, storedValue, type StoredType } from './argument-types.ts';
import { fillCall, type ServedCall } from './served-calls.ts';

/**
 * One call of each served function with each type of its arguments, over one table that has two columns of every type. Calls of a function
 * go together into one statement, `SELECT key, call, call, ... FROM calls`; when an engine fails at it, each call is asked alone.
 */

/** Where a call stands: for every row, for every group, or over every row's window. */
export type CallForm = 'rows' | 'groups' | 'window';

/** A call as plain DuckDB answers it. */
export type FilledCall = ServedCall & { readonly form: CallForm; readonly sql: string };

/** Statements that the engine answers. */
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

/** The call in the forms that DuckDB answers; a scalar one that fails on a row stands within TRY. None when DuckDB refuses it, with why. */
export async function filledCalls(
  call: ServedCall,
  ask: Ask,
): Promise<{ readonly calls: readonly FilledCall[]; readonly refused: string | null }> {
  const seen = new Map<StoredType, number>();
  const text = fillCall(call.text, (type) => {
    const at = seen.get(type) ?? 0;
    seen.set(type, at + 1);
    return columnOf(type, at);
  });
  if (text === undefined) return { calls: [], refused: 'an argument has a type that is not known' };
  const calls: FilledCall[] = [];
  let refused: string | null = null;
  for (const forms of call.kind === 'scalar' ? scalarForms(text) : aggregateForms(text)) {
    for (const form of forms) {
      const answer = await ask(statementOf([form]));
      if (answer.kind === 'error') {
        refused ??= answer.message;
        continue;
      }
      calls.push({ ...call, ...form });
      break;
    }
  }
  return { calls, refused: calls.length === 0 ? refused : null };
}

type Form = Pick<FilledCall, 'form' | 'sql'>;

/** Alternatives: the first that DuckDB answers counts. */
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

/** Calls of the same form that follow one another, so many at a time. */
export function batches(calls: readonly FilledCall[], size: number): readonly (readonly FilledCall[])[] {
  const made: FilledCall[][] = [];
  for (const call of calls) {
    const last = made.at(-1);
    if (last === undefined || last.length === size || !goTogether(must(last[0], 'a call'), call)) made.push([call]);
    else last.push(call);
  }
  return made;
}

/** Aggregates in one statement are all computed in steps or none: those of one function go together. */
const goTogether = (one: FilledCall, other: FilledCall): boolean =>
  one.form === other.form && (one.form === 'rows' || one.name === other.name);

/** `isSame` is false of a call over which DuckDB is not of one mind either: its answer depends on the order of rows. */
export type CallResult = { readonly call: FilledCall; readonly difference: string | null; readonly isSame: boolean };

/** Compares two engines call by call; `expected` has the tables of `functionTableSql` and `reorderedSql`. */
export async function compareCalls(
  calls: readonly FilledCall[],
  actual: Ask,
  expected: Ask,
): Promise<readonly CallResult[]> {
  const sql = statementOf(calls);
  const wanted = await expected(sql);
  const got = await actual(sql);
  if ((wanted.kind === 'error' || got.kind === 'error') && calls.length > 1) {
    const each: CallResult[] = [];
    for (const call of calls) each.push(...(await compareCalls([call], actual, expected)));
    return each;
  }
  // Over Parquet files DuckDB refuses some calls that it takes over a table of its own.
  if (wanted.kind === 'error') return calls.map((call) => ({ call, difference: null, isSame: false }));
  const results: CallResult[] = [];
  for (const [i, call] of calls.entries()) {
    const difference =
      got.kind === 'error' ? got.message : bagDifferences(columnsOf(got.rows, i + 1), columnsOf(wanted.rows, i + 1));
    const isFree = difference === null || got.kind === 'error' || (await isOrderFree(call, expected));
    results.push({ call, difference: isFree ? difference : null, isSame: isFree });
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

/** Whether DuckDB gives a call's rows also when the table has its rows in another order. */
async function isOrderFree(call: FilledCall, duckdb: Ask): Promise<boolean> {
  const wanted = await duckdb(statementOf([call]));
  for (const table of Object.keys(ORDERS)) {
    const got = await duckdb(statementOf([call], table));
    if (wanted.kind === 'error' || got.kind === 'error' || bagDifferences(got.rows, wanted.rows) !== null) return false;
  }
  return true;
}

/** DuckDB with the table of functions alone: asked what it takes, it is quicker than over files. */
export async function functionTable(): Promise<{ readonly connection: DuckDBConnection; readonly ask: Ask }> {
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
  await connection.run("SET TimeZone = 'UTC'; CREATE SCHEMA o; USE o");
  for (const sql of [functionTableSql('calls'), ...reorderedSql]) await connection.run(sql);
  const engine = new DuckdbEngine(connection);
  return { connection, ask: (sql) => engine.run(sql) };
}
