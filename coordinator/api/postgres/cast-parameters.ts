import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { findParameters } from '../../statement/bind-parameters.ts';
import { oidOfKind } from './postgres-type.ts';

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

/**
 * The parameters, by their number from 0, that stand in one place alone, where they are cast. Of a text that is such a value Postgres makes the type
 * as of a constant, which the engine does not: `cast($1 as int[])` of `{1,2}`, `$1::bytea` of `\x00ff`.
 */
export function castOnly(sql: string): ReadonlySet<number> {
  if (sql.length > TEXT_MAX || !MAY_CAST_TEXT.test(sql)) return new Set();
  const casts = new Set<number>();
  const seen = new Set<number>();
  for (const { number, start, end } of findParameters(sql)) {
    if (number === null) continue;
    const before = BEFORE_CAST.test(sql.slice(Math.max(0, start - BEFORE_LENGTH), start).trimEnd());
    const behind = sql.slice(end, end + CAST_LENGTH);
    const isCast = /^\s*::/.test(behind) || (before && /^\s*as\s/i.test(behind));
    if (isCast && !seen.has(number)) casts.add(number - 1);
    else casts.delete(number - 1);
    seen.add(number);
  }
  return casts;
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
