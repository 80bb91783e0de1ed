import { findParameters } from '../../statement/bind-parameters.ts';
import { oidOfKind } from './postgres-type.ts';

/** Longest text, in characters, that is looked at: no driver's question to the catalog is longer. */
const TEXT_MAX = 128 * 1024;

const MAY_CAST = /\boid\b/i;
/** Characters behind a parameter that are looked at, with one space for many. */
const CAST_LENGTH = 100;
const CAST = /^ ?:: ?(?:pg_catalog ?\. ?)?oid\b ?(\[)?/i;

const OID = oidOfKind('oid');
const OIDS = 1028;

/**
 * The types of parameters that a statement casts to `oid` or `oid[]`, by their number from 0. The engine holds these as integers; a driver that
 * reads the catalog itself knows no other arrays before it has read it (asyncpg).
 */
export function oidParameters(sql: string): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  if (sql.length > TEXT_MAX || !MAY_CAST.test(sql)) return found;
  for (const { number, end } of findParameters(sql)) {
    const cast = CAST.exec(sql.slice(end, end + CAST_LENGTH).replaceAll(/\s+/g, ' '));
    if (number !== null && cast !== null) found.set(number - 1, cast[1] === undefined ? OID : OIDS);
  }
  return found;
}
