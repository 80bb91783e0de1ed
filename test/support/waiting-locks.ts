import type { Client } from 'pg';

/** Number of statements that wait for a lock, in the client's database: suites share a server, and hold statements in databases of their own. */
export async function waitingLocks(client: Client, kind: 'any' | 'advisory' = 'any'): Promise<number> {
  const { rowCount } = await client.query(
    `SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE NOT granted AND datname = current_database() AND $1 IN ('any', locktype)`,
    [kind],
  );
  return rowCount ?? 0;
}
