import { SkeinError } from '#shared/error.ts';
import { PARAMETERS_MAX, sizeOf, type Parameter, type Parameters } from '../../statement/parameters.ts';
import { Tokenizer } from '#shared/sql/tokenizer.ts';
import { ARRIVED_ROWS } from '../../binding/table-rows.ts';
import { parametersOf, type BoundRows } from './bound-rows.ts';
import type { PreparedHandle } from './prepared-handles.ts';

/** A text with the values of its parameters. */
export type BoundExecution = { readonly sql: string; readonly parameters: Parameters | null };

/** Executions, each of which is made when it is its turn. */
export type Executions = { readonly count: number; readonly all: Iterable<BoundExecution> };

/**
 * The executions of a prepared statement: one for each row that is bound to its parameters, or one alone when it has none.
 * @throws UNDEFINED_PARAMETER, WRONG_PARAMETER_COUNT
 */
export function executionsOf({ sql, description: { parameters }, bound }: PreparedHandle): Executions {
  if (parameters.length === 0) return { count: 1, all: [{ sql, parameters: null }] };
  if (bound === null) {
    const names = parameters.map(({ name }) => `$${name}`).slice(0, NAMES_SHOWN);
    throw new SkeinError('UNDEFINED_PARAMETER', `the statement has parameters without values: ${names.join(', ')}`);
  }
  requireCount(parameters.length, bound);
  const isNamed = parameters.some(({ name }) => !/^\d/.test(name));
  const execution = (values: readonly Parameter[]): BoundExecution => ({
    sql,
    parameters: isNamed ? named(parameters, values) : { kind: 'positional', values },
  });
  return { count: bound.count, all: parametersOf(bound).map(execution) };
}

function requireCount(parameters: number, { schema, count }: BoundRows): void {
  const columns = schema.fields.length;
  if (count === 0 || columns === parameters) return;
  const message = `the statement has ${parameters} parameters, the bound rows have ${columns} columns`;
  throw new SkeinError('WRONG_PARAMETER_COUNT', message);
}

const NAMES_SHOWN = 10;

const named = (names: readonly { readonly name: string }[], row: readonly Parameter[]): Parameters => ({
  kind: 'named',
  values: row.map((value, i) => [names[i]?.name ?? '', value] as const),
});

/** An INSERT of fewer rows has their values in its text, which costs no file. */
const ARRIVING_MIN = 500;

/**
 * The text that inserts all bound rows as a table that has come in, of an INSERT whose values are its parameters, casts of them, and literals;
 * undefined for another.
 * ```
 * INSERT INTO t (a, b, c) VALUES (?, 'x', ?::DATE)  ->  INSERT INTO t (a, b, c) SELECT c0, 'x', c1::DATE FROM @rows/arrived
 * ```
 * @throws WRONG_PARAMETER_COUNT
 */
export function insertOfAll({ sql, description: { parameters }, bound }: PreparedHandle): string | undefined {
  if (bound === null || bound.count < ARRIVING_MIN) return undefined;
  const values = findValues(sql);
  const columns = values === undefined ? undefined : selectedBy(values.row);
  if (values === undefined || columns === undefined) return undefined;
  const into = values.before.replace(/VALUES\s*$/i, '');
  if (into === values.before || /\bNAME\s*$/i.test(into)) return undefined;
  requireCount(parameters.length, bound);
  return `${into}SELECT ${columns} FROM ${ARRIVED_ROWS}`;
}

/** The columns that stand for the values of a row in brackets; undefined when one is something else. */
function selectedBy(row: string): string | undefined {
  const columns: string[] = [];
  let parameters = 0;
  for (const words of valuesIn(row)) {
    if (isParameter(words))
      columns.push(
        words
          .map((word) => (word === '?' ? `c${parameters++}` : word))
          .join(' ')
          .replace(': :', '::'),
      );
    else if (isLiteral(words)) columns.push(words.join(''));
    else return undefined;
  }
  return columns.join(', ');
}

/** A parameter, or a cast of one: `?`, `?::INT`, `CAST(? AS DECIMAL(10, 2))`. */
function isParameter(words: readonly string[]): boolean {
  if (words[0] === '?') return words.length === 1 || (words[1] === ':' && words[2] === ':' && isType(words.slice(3)));
  const isCast = words.slice(0, 4).join(' ').toUpperCase() === 'CAST ( ? AS' && words.at(-1) === ')';
  return isCast && isType(words.slice(4, -1));
}

const isType = (words: readonly string[]): boolean =>
  words.length > 0 && words.every((word) => /^(?:\w+|[(),[\]])$/.test(word));

function isLiteral(words: readonly string[]): boolean {
  const [first = '', second, ...more] = words;
  if (first === '-') return second !== undefined && more.length === 0 && /^\d/.test(second);
  return second === undefined && (/^[\d']/.test(first) || ['NULL', 'TRUE', 'FALSE'].includes(first.toUpperCase()));
}

/** The words of each value of a row in brackets. */
function valuesIn(row: string): readonly (readonly string[])[] {
  const text = row.slice(1, -1);
  const tokens = new Tokenizer(text);
  const values: string[][] = [[]];
  let depth = 0;
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    const word = text.slice(token.start, token.end);
    if (token.kind === 'symbol' && word === '(') depth += 1;
    if (token.kind === 'symbol' && word === ')') depth -= 1;
    if (token.kind === 'symbol' && word === ',' && depth === 0) values.push([]);
    else values.at(-1)?.push(word);
  }
  return values;
}

/** About how long the text of an INSERT of many rows becomes at most, with its values. */
const INSERT_BYTES_MAX = 4 * 2 ** 20;

/**
 * Makes few executions of those of `INSERT INTO t VALUES (?, ...)`, each of which writes many rows; those of another statement stay.
 * ```
 * INSERT INTO t VALUES (?, 1)  twice  ->  INSERT INTO t VALUES (?, 1), (?, 1)
 * ```
 */
export function* fewerInserts({ count, all }: Executions, sql: string): Generator<BoundExecution, void> {
  const values = count > 1 ? findValues(sql) : undefined;
  if (values === undefined) {
    yield* all;
    return;
  }
  let rows: (readonly Parameter[])[] = [];
  let bytes = 0;
  const made = (): BoundExecution => ({
    sql: values.before + rows.map(() => values.row).join(', '),
    parameters: { kind: 'positional', values: rows.flat() },
  });
  for (const { parameters } of all) {
    if (parameters?.kind !== 'positional') throw new Error('invariant: its parameters have no names');
    const more = sizeOf(parameters) + values.row.length;
    const isFull = (rows.length + 1) * parameters.values.length > PARAMETERS_MAX || bytes + more > INSERT_BYTES_MAX;
    if (isFull && rows.length > 0) {
      yield made();
      [rows, bytes] = [[], 0];
    }
    rows.push(parameters.values);
    bytes += more;
  }
  yield made();
}

/** The row of an INSERT whose text ends with one row of values, in which all its parameters are, each a `?`. */
function findValues(sql: string): { readonly before: string; readonly row: string } | undefined {
  const tokens = new Tokenizer(sql);
  let depth = 0;
  let start = -1;
  let end = -1;
  let isAfterValues = false;
  for (let token = tokens.next(), i = 0; token.kind !== 'end'; token = tokens.next(), i += 1) {
    const text = sql.slice(token.start, token.end);
    const word = token.kind === 'word' ? text.toUpperCase() : '';
    if (i === 0 && word !== 'INSERT') return undefined;
    // Something stands behind the row.
    if (end !== -1 && text !== ';') return undefined;
    if (token.kind === 'parameter' && (text !== '?' || start === -1)) return undefined;
    if (token.kind === 'symbol' && text === '(') {
      if (depth === 0 && isAfterValues) start = token.start;
      depth += 1;
    } else if (token.kind === 'symbol' && text === ')') {
      depth -= 1;
      if (depth === 0 && start !== -1) end = token.end;
    }
    if (depth === 0) isAfterValues = word === 'VALUES';
  }
  return end === -1 ? undefined : { before: sql.slice(0, start), row: sql.slice(start, end) };
}
