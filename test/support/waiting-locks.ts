import type { Client } from 'pg';

/**
 * Number of statements that wait for a lock, in the client's database: suites share a server, and hold statements in databases of their
 * own. Whoever waits holds a lock of its database. `pg_stat_activity`, which names it, is the same for as long as a transaction.
 */
export async function waitingLocks(client: Client, kind: 'any' | 'advisory' = 'any'): Promise<number> {
  const { rowCount } = await client.query(
    `SELECT 1 FROM pg_locks WHERE NOT granted AND $1 IN ('any', locktype) AND pid IN
       (SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = database WHERE datname = current_database())`,
    [kind],
  );
  return rowCount ?? 0;
}
