import { sql } from 'kysely';
import { SkeinError } from '#shared/error.ts';
import type { Database, Tx } from './tables.ts';

/** Whether coordinators keep their terms in this database; looked up until they do. Databases that were seen are remembered. */
const SEEN = new WeakSet<Database>();

/**
 * Requires that the term of the coordinator that asked for a change goes on, at the end of the change's transaction. The lead cannot be taken
 * by another one before that transaction has ended, so nothing of an earlier term is committed once a later one has begun.
 * @param term "0" = no coordinator asks (`skein load`, an operator, a client of the REST API)
 * @throws NOT_ACTIVE
 */
export async function requireTerm(tx: Tx, db: Database, term: string): Promise<void> {
  if (term === '0' || !(await keepsTerms(tx, db))) return;
  // `coordinator/history/lead-lease.ts` renews the row, which this lock lets it do, and takes it, which waits for this lock.
  const { rows } = await sql`
    select where exists (select from coordinator.lead where epoch = ${term}::bigint for key share)
      or exists (select from coordinator.ending_terms where epoch = ${term}::bigint and until >= clock_timestamp())
      or not exists (select from coordinator.lead)`.execute(tx);
  if (rows.length === 0)
    throw new SkeinError('NOT_ACTIVE', 'another coordinator has taken the lead: nothing was changed');
}

/** Coordinators of another database have terms that are not known here: none has ever led in this one, or it has not even the table. */
async function keepsTerms(tx: Tx, db: Database): Promise<boolean> {
  if (SEEN.has(db)) return true;
  const { rows } = await sql<{ found: boolean }>`select to_regclass('coordinator.lead') is not null as found`.execute(
    tx,
  );
  const isFound = rows[0]?.found === true;
  if (isFound) SEEN.add(db);
  return isFound;
}
