import { int64, type Json, type JsonObject } from '#shared/json.ts';
import type { SqlField, SqlType } from './sql-type.ts';
import { textOf } from './json-node.ts';

/** A logical type of DuckDB's plan printer: `{"id":"DECIMAL","type_info":{"width":15,"scale":2}}`. */
export function decodeType(json: Json | undefined): SqlType {
  const { id, type_info: info } = json as JsonObject;
  const extra = (info ?? {}) as JsonObject;
  switch (textOf(id)) {
    case 'DECIMAL':
      return { kind: 'decimal', width: Number(extra['width']), scale: Number(extra['scale']) };
    case 'ENUM':
      return { kind: 'enum', values: extra['values'] as readonly string[] };
    case 'LIST':
      return { kind: 'list', element: decodeType(extra['child_type']) };
    case 'ARRAY':
      return { kind: 'array', element: decodeType(extra['child_type']), length: Number(extra['size']) };
    case 'STRUCT':
      return { kind: 'struct', fields: decodeFields(extra) };
    case 'MAP': {
      const entry = decodeType(extra['child_type']);
      const [key, value] = entry.kind === 'struct' ? entry.fields : [];
      if (key === undefined || value === undefined) throw new Error('a map without key and value');
      return { kind: 'map', key: key.type, value: value.type };
    }
    case 'UNION':
      // The first field is the tag.
      return { kind: 'union', members: decodeFields(extra).slice(1) };
    default:
      return { kind: 'scalar', name: scalarName(textOf(id), extra) };
  }
}

const decodeFields = (info: JsonObject): SqlField[] =>
  ((info['child_types'] ?? []) as readonly JsonObject[]).map(({ first, second }) => ({
    name: textOf(first),
    type: decodeType(second),
  }));

/** Types that DuckDB stores as another type with an alias. */
const ALIASES: ReadonlySet<string> = new Set(['JSON', 'GEOMETRY']);

/** @throws Error for an alias that is not known: without it the type would be another one. */
function scalarName(id: string, info: JsonObject): string {
  const alias = textOf(info['alias'] ?? '');
  if (alias !== '' && !ALIASES.has(alias)) throw new Error(`unknown type ${alias}`);
  if (alias !== '') return alias;
  return id === 'NULL' || id === 'SQLNULL' ? '"NULL"' : id;
}

/** A constant's raw value; 128-bit integers, which DuckDB prints in halves, become one, and bits digits. */
export function decodeValue(json: Json | undefined): Json {
  const { type, is_null: isNull, value } = json as JsonObject;
  if (isNull === true) return null;
  if ((type as JsonObject)['id'] === 'BIT') return decodeBits(textOf(value));
  const half = value as JsonObject | undefined;
  const upper = int64(half?.['upper']);
  const lower = int64(half?.['lower']);
  if (upper === undefined || lower === undefined) return value ?? null;
  const wide = (upper << 64n) + lower;
  if ((type as JsonObject)['id'] !== 'UUID') return wide;
  // A UUID's sign bit is flipped, so that it sorts as an integer.
  const hex = BigInt.asUintN(128, wide ^ (1n << 127n))
    .toString(16)
    .padStart(32, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/**
 * DuckDB prints a BIT's bytes as they are: how many bits the second one leaves out, and the bits. Where those are no text, it prints no
 * plan.
 */
function decodeBits(text: string): string {
  const [left = 0, ...bytes] = Buffer.from(text);
  return bytes
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('')
    .slice(left);
}
