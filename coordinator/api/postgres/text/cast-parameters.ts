import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { findParameters } from '../../../statement/bind-parameters.ts';
import { PARAMETERS_MAX } from '../../../statement/parameters.ts';
import { oidOfKind } from '../message/postgres-type.ts';

/** Longest text, in characters, that is looked at: no driver's question to the catalog is longer. */
const TEXT_MAX = 128 * 1024;

const OID = oidOfKind('oid');
const OIDS = 1028;

/** Types that a driver sends in a form of their own, which would not pass for a text. */
const TYPES: Readonly<Record<string, number>> = {
  OID: OID,
  BOOL: oidOfKind('bool'),
  BOOLEAN: oidOfKind('bool'),
  INT2: oidOfKind('int2'),
  SMALLINT: oidOfKind('int2'),
  INT: oidOfKind('int4'),
  INT4: oidOfKind('int4'),
  INTEGER: oidOfKind('int4'),
  INT8: oidOfKind('int8'),
  BIGINT: oidOfKind('int8'),
};
const MAY_CAST = /::/;
/** Characters behind a parameter that are looked at, with one space for many. */
const CAST_LENGTH = 100;
const CAST = /^ ?:: ?(?:pg_catalog ?\. ?)?(\w+) ?(\[)?/;

const MAY_CAST_TEXT = /::|\bcast\s*\(/i;
const BEFORE_CAST = /\bcast\s*\($/i;
/** Characters before a parameter that are looked at. */
const BEFORE_LENGTH = 100;
/** A type: its name, what is in brackets, more words of the name, and whether it is an array of one dimension, or of more. */
const TYPE =
  /^(?:pg_catalog ?\. ?)?(\w+(?: precision| varying)?) ?(\( ?\d+(?: ?, ?\d+)? ?\))? ?((?:with|without) time zone)? ?((?:\[ ?\d* ?\] ?)*)(\)?)/i;

/** The engine's types of values whose texts Postgres reads otherwise than the engine, or that are the same. */
const ENGINE_TYPES: Readonly<Record<string, string>> = {
  TEXT: 'VARCHAR',
  VARCHAR: 'VARCHAR',
  'CHARACTER VARYING': 'VARCHAR',
  BPCHAR: 'VARCHAR',
  BOOL: 'BOOLEAN',
  BOOLEAN: 'BOOLEAN',
  INT2: 'SMALLINT',
  SMALLINT: 'SMALLINT',
  INT: 'INTEGER',
  INT4: 'INTEGER',
  INTEGER: 'INTEGER',
  INT8: 'BIGINT',
  BIGINT: 'BIGINT',
  FLOAT4: 'FLOAT',
  REAL: 'FLOAT',
  FLOAT8: 'DOUBLE',
  'DOUBLE PRECISION': 'DOUBLE',
  BYTEA: 'BLOB',
  DATE: 'DATE',
  TIME: 'TIME',
  TIMESTAMP: 'TIMESTAMP',
  'TIMESTAMP WITHOUT TIME ZONE': 'TIMESTAMP',
  'TIMESTAMP WITH TIME ZONE': 'TIMESTAMP WITH TIME ZONE',
  TIMESTAMPTZ: 'TIMESTAMP WITH TIME ZONE',
  INTERVAL: 'INTERVAL',
  UUID: 'UUID',
  JSON: 'JSON',
  JSONB: 'JSON',
};

/**
 * The types of parameters, by their number from 0, that stand in one place alone, where they are cast; empty where the engine finds it. Postgres
 * reads the text of such a value as that type, `cast($1 as int[])` of `{1,2}`, `$1::bytea` of `\x00ff`, which the engine would not; and the engine
 * knows no type at all as long as it lacks that of another parameter.
 */
export function castTypes(sql: string): ReadonlyMap<number, string> {
  const types = new Map<number, string>();
  if (sql.length > TEXT_MAX || !MAY_CAST_TEXT.test(sql)) return types;
  const seen = new Set<number>();
  for (const { number, start, end } of findParameters(sql)) {
    if (number === null || number > PARAMETERS_MAX) continue;
    const type = seen.has(number) ? undefined : castType(sql, start, end);
    if (type === undefined) types.delete(number - 1);
    else types.set(number - 1, type);
    seen.add(number);
  }
  return types;
}

/** Undefined for a parameter that is not cast. */
function castType(sql: string, start: number, end: number): string | undefined {
  const behind = sql
    .slice(end, end + CAST_LENGTH)
    .replaceAll(/\s+/g, ' ')
    .trimStart();
  const isOperator = behind.startsWith('::');
  const isCall =
    /^as /i.test(behind) && BEFORE_CAST.test(sql.slice(Math.max(0, start - BEFORE_LENGTH), start).trimEnd());
  if (!isOperator && !isCall) return undefined;
  const found = TYPE.exec(behind.slice(isOperator ? '::'.length : 'as '.length).trimStart());
  const [, name = '', modifiers, zone = '', dimensions = '', close = ''] = found ?? [];
  if (found === null || (isCall && close === '')) return '';
  const count = dimensions.split('[').length - 1;
  const element = modifiers === undefined ? ENGINE_TYPES[foldKeyword(`${name} ${zone}`.trim())] : undefined;
  if (count === 0) return element ?? '';
  // The elements are texts, of which the cast makes what it says.
  return count === 1 ? `${element ?? 'VARCHAR'}[]` : '';
}

/**
 * The types to which a statement casts its parameters, by their number from 0, as Postgres has them. The engine does not tell all: it holds `oid`
 * as an integer, and knows no type of what stands in a call that it writes anew. Of arrays only `oid[]` is told, because a driver knows no others
 * before it has read the catalog (asyncpg).
 */
export function castParameters(sql: string): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  if (sql.length > TEXT_MAX || !MAY_CAST.test(sql)) return found;
  for (const { number, end } of findParameters(sql)) {
    const cast = CAST.exec(sql.slice(end, end + CAST_LENGTH).replaceAll(/\s+/g, ' '));
    const type = TYPES[foldKeyword(cast?.[1] ?? '')];
    if (number === null || cast === null || type === undefined) continue;
    if (cast[2] === undefined) found.set(number - 1, type);
    else if (type === OID) found.set(number - 1, OIDS);
  }
  return found;
}
