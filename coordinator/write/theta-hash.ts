import { must, unreachable } from '#shared/must.ts';
import type { IcebergType } from '#shared/iceberg/type.ts';
import { DEFAULT_SEED } from '#shared/iceberg/theta-sketch.ts';

/**
 * The hash of DataSketches as SQL, because DuckDB has no Murmur3: x64 variant, 128 bit, of which the upper 63 of the first 64 bits count
 * (`ThetaUtil`, `MurmurHash3` of datasketches-java), over a value's bytes in Iceberg's single-value serialization (specification, appendix D).
 * Plain SQL, so that it is distributed like any query. A subquery gives each value that is used twice a name; text that is nested instead
 * would double with each step.
 */

const C1 = '9782798678568883157';
const C2 = '5545529020109919103';
const FINISH_1 = '18397679294719823053';
const FINISH_2 = '14181476777654086739';
const LOW_64 = '18446744073709551615::UHUGEINT';
const SEED = `${DEFAULT_SEED}::UBIGINT`;
const TWO_64 = '18446744073709551616::UHUGEINT';
const BLOCK_BYTES = 16;
const ZEROS = `'${String.raw`\x00`.repeat(BLOCK_BYTES)}'::BLOB`;

// The product of 64 bits, without an overflow.
const multiply = (a: string, b: string): string =>
  `CAST((CAST(${a} AS UHUGEINT) * ${b}::UHUGEINT) & ${LOW_64} AS UBIGINT)`;
const add = (a: string, b: string): string =>
  `CAST((CAST(${a} AS UHUGEINT) + CAST(${b} AS UHUGEINT)) & ${LOW_64} AS UBIGINT)`;
const shiftLeft = (a: string, bits: number): string =>
  `((${a} & ${2n ** BigInt(64 - bits) - 1n}::UBIGINT) << ${bits}::UBIGINT)`;
const rotate = (a: string, bits: number): string => `(${shiftLeft(a, bits)} | (${a} >> ${64 - bits}::UBIGINT))`;
const fold = (a: string): string => `xor(${a}, ${a} >> 33::UBIGINT)`;

/** Exchanges neighbouring groups of this many bits. */
const swap = (a: string, bits: 8 | 16 | 32): string => {
  const mask = `${must(SWAPPED[bits], 'a step')}::UBIGINT`;
  return `(((${a} & ${mask}) << ${bits}::UBIGINT) | ((${a} >> ${bits}::UBIGINT) & ${mask}))`;
};
const SWAPPED = { 8: '71777214294589695', 16: '281470681808895', 32: '4294967295' } as const;

/** The type's values are ordered bytes, so that they have a hash. */
export const isHashed = (type: IcebergType): boolean => inputOf(type, 'v') !== null;

/**
 * Prints a query of the hashes of a column, one column `h` (UBIGINT below 2^63, NULL for a value that a sketch does not count).
 * @param from the rest of the query, from FROM on
 */
export function hashQuery(type: IcebergType, column: string, from: string): string {
  const input = must(inputOf(type, column), 'a type with a hash');
  return input.kind === 'word'
    ? hashOfWord(`SELECT ${input.sql} AS k ${from}`, input.bytes)
    : hashOfBytes(`SELECT ${input.sql} AS x ${from}`);
}

type Input =
  /** An unsigned integer whose bytes, the lowest first, are those of the value. */
  | { readonly kind: 'word'; readonly sql: string; readonly bytes: 1 | 4 | 8 }
  | { readonly kind: 'bytes'; readonly sql: string };

/** Returns a value's bytes; null for types without a serialization. */
function inputOf(type: IcebergType, column: string): Input | null {
  switch (type.kind) {
    case 'boolean':
      return { kind: 'word', bytes: 1, sql: `CAST(${column} AS UBIGINT)` };
    case 'int':
      return { kind: 'word', bytes: 4, sql: unsigned(column, 4) };
    case 'date':
      return { kind: 'word', bytes: 4, sql: unsigned(`${column} - DATE '1970-01-01'`, 4) };
    case 'long':
      return { kind: 'word', bytes: 8, sql: unsigned(column, 8) };
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return { kind: 'word', bytes: 8, sql: unsigned(`epoch_us(${column})`, 8) };
    case 'timestamp_ns':
      return { kind: 'word', bytes: 8, sql: unsigned(`epoch_ns(${column})`, 8) };
    case 'float':
      return { kind: 'word', bytes: 4, sql: `CAST(CAST(CAST(${column} AS BIT) AS UINTEGER) AS UBIGINT)` };
    case 'double':
      return { kind: 'word', bytes: 8, sql: `CAST(CAST(${column} AS BIT) AS UBIGINT)` };
    case 'decimal':
      return { kind: 'bytes', sql: decimalBytes(column) };
    case 'string':
      return { kind: 'bytes', sql: `encode(${column})` };
    case 'uuid':
      return { kind: 'bytes', sql: `unhex(replace(CAST(${column} AS VARCHAR), '-', ''))` };
    case 'fixed':
    case 'binary':
      return { kind: 'bytes', sql: column };
    // DuckDB holds no nanoseconds with a zone.
    case 'timestamptz_ns':
    case 'geometry':
    case 'geography':
    case 'struct':
    case 'list':
    case 'map':
    case 'unknown':
    case 'variant':
      return null;
    default:
      return unreachable(type);
  }
}

/** Two's complement. */
const unsigned = (integer: string, bytes: 4 | 8): string =>
  `CAST(CAST(${integer} AS HUGEINT) & ${2n ** BigInt(8 * bytes) - 1n}::HUGEINT AS UBIGINT)`;

/** The unscaled value in the fewest bytes that hold it, two's complement, big-endian. */
function decimalBytes(column: string): string {
  const unscaled = `CAST(replace(CAST(${column} AS VARCHAR), '.', '') AS HUGEINT)`;
  const bounds = Array.from({ length: 15 }, (_, i) => 2n ** BigInt(8 * (i + 1) - 1));
  const more = bounds.map(
    (bound) => `CAST(${unscaled} < ${-bound}::HUGEINT OR ${unscaled} >= ${bound}::HUGEINT AS INTEGER)`,
  );
  const digits = `lpad(hex(${unscaled}), 32, CASE WHEN ${unscaled} < 0 THEN 'F' ELSE '0' END)`;
  return `unhex(right(${digits}, 2 + 2 * (${more.join(' + ')})))`;
}

/** @param from gives `k`, the whole of the value */
function hashOfWord(from: string, bytes: number): string {
  const mixed = `SELECT ${multiply('k', C1)} AS k FROM (${from})`;
  const first = `xor(${SEED}, ${multiply(rotate('k', 31), C2)})`;
  return finish(`SELECT ${first} AS h1, ${SEED} AS h2, ${bytes}::UBIGINT AS n FROM (${mixed})`);
}

/** @param from gives `x`, a BLOB; the sketch counts no empty one */
function hashOfBytes(from: string): string {
  const word = (slice: string): string => `CAST(CAST(${slice} AS BIT) AS UBIGINT)`;
  const each = (list: string, step: (value: string) => string): string =>
    `list_transform(${list}, lambda w: ${step('w')}) AS ${list}`;
  const all =
    (lists: (value: string) => string, tails: (value: string) => string = lists) =>
    (query: string) =>
      `SELECT n, ${each('a', lists)}, ${each('b', tails)}, ${lists('t')} AS t, ${tails('u')} AS u FROM (${query})`;
  const counted = `SELECT x, octet_length(x) AS n FROM (${from}) WHERE octet_length(x) > 0`;
  const start = `n // ${BLOCK_BYTES} * ${BLOCK_BYTES}`;
  const tail = `SELECT x, n, x[${start} + 1 :] || ${ZEROS} AS t FROM (${counted})`;
  const blocks = (first: number): string =>
    `list_transform(range(n // ${BLOCK_BYTES}), lambda i: ${word(`x[${BLOCK_BYTES} * i + ${first} : ${BLOCK_BYTES} * i + ${first + 7}]`)})`;
  let query = `SELECT CAST(n AS UBIGINT) AS n, ${blocks(1)} AS a, ${blocks(9)} AS b, ${word('t[1:8]')} AS t, ${word('t[9:16]')} AS u FROM (${tail})`;
  // The casts take the first byte for the highest.
  for (const bits of [8, 16, 32] as const) query = all((value) => swap(value, bits))(query);
  query = all(
    (value) => multiply(value, C1),
    (value) => multiply(value, C2),
  )(query);
  query = all(
    (value) => multiply(rotate(value, 31), C2),
    (value) => multiply(rotate(value, 33), C1),
  )(query);
  // Both halves of a block, and of the state, in one number.
  const pairs = `list_transform(range(1, len(a) + 1), lambda i: a[i]::UHUGEINT * ${TWO_64} + b[i]::UHUGEINT)`;
  query = `SELECT n, t, u, list_reduce(${pairs}, lambda s, k: ${addBlock('s', 'k')}, ${SEED}::UHUGEINT * ${TWO_64} + ${SEED}::UHUGEINT) AS s FROM (${query})`;
  return finish(`SELECT xor(${high('s')}, t) AS h1, xor(${low('s')}, u) AS h2, n FROM (${query})`);
}

const high = (pair: string): string => `CAST(${pair} >> 64 AS UBIGINT)`;
const low = (pair: string): string => `CAST(${pair} & ${LOW_64} AS UBIGINT)`;

function addBlock(state: string, block: string): string {
  const stir = (hash: string, bits: number, other: string, plus: string): string =>
    add(multiply(add(rotate(hash, bits), other), '5'), `${plus}::UBIGINT`);
  const first = stir(`xor(${high(state)}, ${high(block)})`, 27, low(state), '1390208809');
  const second = stir(`xor(${low(state)}, ${low(block)})`, 31, 'h', '944331445');
  return `list_transform([${first}], lambda h: h::UHUGEINT * ${TWO_64} + ${second}::UHUGEINT)[1]`;
}

/** @param from gives the state `h1`, `h2` and the number of bytes `n` */
function finish(from: string): string {
  let query = `SELECT ${add('xor(h1, n)', 'xor(h2, n)')} AS p, xor(h2, n) AS q FROM (${from})`;
  query = `SELECT p, ${add('q', 'p')} AS q FROM (${query})`;
  for (const factor of [FINISH_1, FINISH_2]) {
    query = `SELECT ${multiply(fold('p'), factor)} AS p, ${multiply(fold('q'), factor)} AS q FROM (${query})`;
  }
  return `SELECT ${add(fold('p'), fold('q'))} >> 1::UBIGINT AS h FROM (${query})`;
}
