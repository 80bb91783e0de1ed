/**
 * JSON that preserves 64-bit integers. `JSON.parse` rounds integers beyond 2^53 - 1, so documents with Iceberg snapshot ids and DuckDB
 * plans, which have such numbers, must be parsed and printed here.
 */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

const INTEGER = /^-?\d+$/;

/**
 * Parses JSON; an integer that a double cannot hold exactly becomes a `bigint`, every other number a `number`.
 * @throws SyntaxError as `JSON.parse` does.
 */
export function parseJson(text: string): Json {
  // A document without 16 consecutive digits has no unsafe integer, and the plain parser is an order of magnitude faster.
  if (!/\d{16}/.test(text)) return JSON.parse(text) as Json;
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    const source = context?.source;
    return source !== undefined && INTEGER.test(source) ? BigInt(source) : value;
  }) as Json;
}

/** Prints JSON; a `bigint` becomes a bare number (never a string, never rounded). */
export function printJson(value: unknown, indent?: number): string {
  const raw = (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON;
  return JSON.stringify(value, (_key, v: unknown) => (typeof v === 'bigint' ? raw(v.toString()) : v), indent);
}

/** Returns a number that `printJson` prints with a fraction or an exponent, for readers that distinguish `1.0` from `1`. */
export function floatingPoint(value: number | bigint): Json {
  const text = Object.is(value, -0) ? '-0' : String(Number(value));
  const raw = (JSON as unknown as { rawJSON: (text: string) => Json }).rawJSON;
  return raw(/[.e]/.test(text) ? text : `${text}.0`);
}

/** Returns an int64 of a parsed document, where a small one is a `number` and a big one a `bigint`; undefined when it is neither. */
export function int64(value: Json | undefined): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}
