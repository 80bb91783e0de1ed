import { SkeinError } from '#shared/error.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { ARRIVED_ROWS } from '../binding/table-rows.ts';
import { findParameters, type FoundParameter } from '../statement/bind-parameters.ts';
import { checkShape } from '../statement/check-shape.ts';
import { isTypeText, PARAMETERS_MAX, sizeOf, type Parameter, type Parameters } from '../statement/parameters.ts';
import { isLiteral } from '../statement/proven.ts';
import type { TextSpan } from '../statement/statement.ts';
import { StatementReader } from '../statement/statement-reader.ts';
import { insert } from './insert.ts';

/** An INSERT of one row that a client prepares once, and executes with many rows: what every door makes of it. */

/** A text with the values of its parameters. */
export type BoundExecution = { readonly sql: string; readonly parameters: Parameters | null };

/** Executions, each of which is made when it is its turn. */
export type Executions = { readonly count: number; readonly all: Iterable<BoundExecution> };

/** An INSERT of fewer rows has their values in its text, which costs no file. */
const ARRIVING_MIN = 500;
/** About how long the text of an INSERT of many rows becomes at most, with its values. */
const INSERT_BYTES_MAX = 4 * 2 ** 20;

/**
 * The text that inserts so many bound rows as a table that has come in (column `c0` has the values of the first parameter), of an INSERT whose
 * values are its parameters, casts of them, and literals; undefined for another, and for few rows.
 * ```
 * INSERT INTO t (a, b, c) VALUES (?, 'x', $2::DATE)  ->  INSERT INTO t (a, b, c) SELECT c0, 'x', c1::DATE FROM @rows/arrived
 * ```
 */
export function insertOfArrived(sql: string, count: number): string | undefined {
  const inserted = count < ARRIVING_MIN ? undefined : readInsertedRow(sql);
  if (inserted === undefined || inserted.isByName) return undefined;
  const columns = inserted.values.map((value) => selectedBy(value, inserted));
  return columns.includes(undefined) ? undefined : `${inserted.into}SELECT ${columns.join(', ')} FROM ${ARRIVED_ROWS}`;
}

/**
 * Makes few executions of those of `INSERT INTO t VALUES (?, ...)`, each of which writes many rows; those of another statement stay.
 * ```
 * INSERT INTO t VALUES ($1, 1)  twice  ->  INSERT INTO t VALUES (?, 1), (?, 1)
 * ```
 * @throws WRONG_PARAMETER_COUNT for an execution whose values are not as many as the parameters
 */
export function* fewerInserts({ count, all }: Executions, sql: string): Generator<BoundExecution, void> {
  const inserted = count > 1 ? readInsertedRow(sql) : undefined;
  if (inserted === undefined) {
    yield* all;
    return;
  }
  const row = rowText(inserted);
  let rows: (readonly Parameter[])[] = [];
  let bytes = 0;
  const made = (): BoundExecution => ({
    sql: `${inserted.into}${inserted.word} ${rows.map(() => row).join(', ')}`,
    parameters: { kind: 'positional', values: rows.flat() },
  });
  for (const { parameters } of all) {
    const values = valuesOf(inserted, parameters);
    const more = sizeOf({ kind: 'positional', values }) + row.length;
    const isFull = (rows.length + 1) * values.length > PARAMETERS_MAX || bytes + more > INSERT_BYTES_MAX;
    if (isFull && rows.length > 0) {
      yield made();
      [rows, bytes] = [[], 0];
    }
    rows.push(values);
    bytes += more;
  }
  if (rows.length > 0) yield made();
}

/** Whether each execution of a text adds one row, and nothing else: an INSERT of one row of values, in which all its parameters are. */
export function isInsertOfOneRow(sql: string): boolean {
  const inserted = readInsertedRow(sql);
  return (
    inserted !== undefined && !new StatementReader({ text: inserted.into, offset: 0 }).takeWords('INSERT', 'OVERWRITE')
  );
}

type InsertedRow = {
  /** The statement up to its word VALUES. */
  readonly into: string;
  /** VALUES, as it is spelled. */
  readonly word: string;
  /** The row in its brackets, and its values; null for DEFAULT. Their positions are those in the statement, as are those of the parameters. */
  readonly row: TextSpan;
  readonly values: readonly (TextSpan | null)[];
  readonly places: readonly Place[];
  /** The number of its parameters. */
  readonly count: number;
  readonly isByName: boolean;
};
type Place = FoundParameter & { readonly number: number };

/** Whoever prepared the statement has checked its length and depth. */
const CHECKED = { bytesMax: Infinity, depthMax: Infinity };

/** The row of an INSERT that ends with one row of values, in which all its parameters are, by position; undefined for another text. */
function readInsertedRow(sql: string): InsertedRow | undefined {
  try {
    const statement = checkShape(sql, CHECKED);
    const reader = new StatementReader(statement);
    if (reader.peekWord() !== 'INSERT') return undefined;
    const { query, values: rows, returning, target } = insert.parse(reader);
    const [values, ...others] = rows ?? [];
    if (values === undefined || others.length > 0 || returning !== null) return undefined;
    const inQuery = new StatementReader(query);
    inQuery.word();
    const row = inQuery.rest();
    const places = [...findParameters(sql)];
    if (!places.every(isNumbered) || places.some(({ start }) => start < row.offset)) return undefined;
    const { text, offset } = statement;
    const count = places.reduce((most, { number }) => Math.max(most, number), 0);
    const into = text.slice(0, query.offset - offset);
    const word = query.text.slice(0, 'VALUES'.length);
    return { into, word, row, values, places, count, isByName: target.kind === 'name' };
  } catch (error) {
    // A parameter stands where the grammar has none, or there is another fault: the statement says so when it runs.
    if (error instanceof SkeinError) return undefined;
    throw error;
  }
}

const isNumbered = (place: FoundParameter): place is Place => place.number !== null;

/** The column that stands for a value: a parameter, a cast of one (`?::INT`, `CAST($1 AS DECIMAL(10, 2))`), a literal; undefined for another. */
function selectedBy(value: TextSpan | null, { places }: InsertedRow): string | undefined {
  if (value === null) return undefined;
  const { text, offset } = value;
  const [place, second] = places.filter(({ start }) => start >= offset && start < offset + text.length);
  if (place === undefined) return isLiteral(value) ? text : undefined;
  const column = `c${place.number - 1}`;
  const made = text.slice(0, place.start - offset) + column + text.slice(place.end - offset);
  return second === undefined && isCast(made, column) ? made : undefined;
}

/** Whether a text is the column, or a cast of it. */
function isCast(text: string, column: string): boolean {
  const reader = new StatementReader({ text, offset: 0 });
  const word = foldKeyword(column);
  if (reader.takeWord('CAST')) {
    if (!reader.takeSymbol('(') || !reader.takeWords(word, 'AS')) return false;
    const type = reader.clause('a type', ')');
    return isTypeText(type.text) && reader.takeSymbol(')') && reader.atEnd();
  }
  if (!reader.takeWord(word)) return false;
  return reader.atEnd() || (reader.takeSymbol(':') && reader.takeSymbol(':') && isTypeText(reader.takeRest().text));
}

/** The row with a `?` for each of its parameters. */
function rowText({ row, places }: InsertedRow): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of places) {
    parts.push(row.text.slice(at, start - row.offset), '?');
    at = end - row.offset;
  }
  return parts.join('') + row.text.slice(at);
}

/** The values of an execution in the order in which the row names them. @throws WRONG_PARAMETER_COUNT */
function valuesOf({ places, count }: InsertedRow, parameters: Parameters | null): readonly Parameter[] {
  const given = parameters ?? { kind: 'positional', values: [] };
  if (given.kind !== 'positional') throw new Error('invariant: parameters by position have values by position');
  if (given.values.length !== count) {
    const message = `the statement has ${count} parameters, the bound row has ${given.values.length} values`;
    throw new SkeinError('WRONG_PARAMETER_COUNT', message);
  }
  return places.flatMap(({ number }) => given.values[number - 1] ?? []);
}
