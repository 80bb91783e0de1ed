import { predicateSize } from '#shared/iceberg/predicate.ts';
import { printJson } from '#shared/json.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { ScanUse } from '../plan/scan-predicates.ts';

/**
 * A query that was planned, without the tables that a statement was given: each statement loads and authorises them anew, and a cache that
 * held them would hold the metadata of every version that was ever read.
 */
export type PlannedQuery = Omit<PreparedQuery, 'scans'> & {
  /** The parts of each scan that the query reads; a scan without an entry is read whole. */
  readonly uses: readonly ScanUse[];
};

/** Bytes on the heap for a character of JSON (measured: 4 to 6 for plans). */
const HEAP_FACTOR = 6;
const LITERAL_BYTES = 100;

/** Approximate memory of a value that was made from JSON. */
export const parsedBytes = (value: unknown): number => HEAP_FACTOR * printJson(value).length;

/** Approximate memory of a planned query. Its plan counts twice: shaped for the distributor it is about as large (`PlanMemory`). */
export function plannedBytes({ plan, columns, workerSql, uses }: PlannedQuery): number {
  const literals = uses.reduce((sum, { predicate }) => {
    const size = predicateSize(predicate);
    return sum + size.leaves + size.literals;
  }, 0);
  return parsedBytes([plan, plan, columns, workerSql]) + LITERAL_BYTES * literals;
}
