import { duckdb, type Address } from './library.ts';
import { readBytes, readWords } from './memory.ts';
import { INLINE_BYTES } from './vector-memory.ts';

/** Readers of small results: the values of a vector of a chunk, none of which is NULL. The chunk is of a collected statement, so that it is flat. */

export function readTexts(vector: Address, rows: number): string[] {
  const words = readWordsAt(vector, rows * 2);
  const inline = Buffer.from(words.buffer);
  return Array.from({ length: rows }, (_, row) => {
    const bytes = inline.readUInt32LE(row * 16);
    if (bytes <= INLINE_BYTES) return inline.toString('utf8', row * 16 + 4, row * 16 + 4 + bytes);
    return Buffer.from(readBytes(words[row * 2 + 1] ?? 0n, bytes)).toString();
  });
}

/** The values of a UBIGINT vector that are below 2^53. */
export const readCounts = (vector: Address, rows: number): number[] => Array.from(readWordsAt(vector, rows), Number);

/** The values of a MAP vector with text keys; `readEntries` reads those of all its maps. */
export function readMaps<T>(
  vector: Address,
  rows: number,
  readEntries: (values: Address, count: number) => readonly T[],
): ReadonlyMap<string, T>[] {
  const places = readWordsAt(vector, rows * 2);
  const entries = duckdb.list_vector_get_child(vector);
  const count = Number(duckdb.list_vector_get_size(vector));
  const keys = readTexts(duckdb.struct_vector_get_child(entries, 0), count);
  const values = readEntries(duckdb.struct_vector_get_child(entries, 1), count);
  const pairs = keys.map((key, i) => [key, values[i] as T] as const);
  return Array.from({ length: rows }, (_, row) => {
    const start = Number(places[row * 2]);
    return new Map(pairs.slice(start, start + Number(places[row * 2 + 1])));
  });
}

function readWordsAt(vector: Address, count: number): BigUint64Array<ArrayBuffer> {
  const words = new BigUint64Array(count);
  readWords(words, duckdb.vector_get_data(vector), count);
  return words;
}
