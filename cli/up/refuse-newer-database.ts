import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import { CATALOG_SCHEMA } from '#catalog/store/postgres/migrations.ts';
import { COORDINATOR_SCHEMA } from '#coordinator/history/history-database.ts';
import { SkeinError } from '#shared/error.ts';
import { refuseNewerSchema } from '#shared/database/own-schema.ts';

/** Time to connect; after it the check is left to the services, which wait for the database and check themselves. */
const CONNECT_TIMEOUT_MS = 2_000;

/**
 * Checks the schema versions of all services before any of them changes something. Otherwise a catalog that knows its schema would go on
 * while the coordinator refuses its own, or vice versa. Only reads. @throws NEWER_DATA
 */
export async function refuseNewerDatabase(url: string): Promise<void> {
  const pool = new Pool({ connectionString: url, max: 1, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  pool.on('error', () => undefined);
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    for (const schema of [CATALOG_SCHEMA, COORDINATOR_SCHEMA]) await refuseNewerSchema(db, schema);
  } catch (error) {
    // Other errors are ignored, because a service that meets the same fault reports it better.
    if (error instanceof SkeinError) throw error;
  } finally {
    await db.destroy();
  }
}
