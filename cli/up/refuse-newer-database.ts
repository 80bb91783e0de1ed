import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import { CATALOG_SCHEMA } from '#catalog/store/postgres/migrations.ts';
import { COORDINATOR_SCHEMA } from '#coordinator/history/history-database.ts';
import { SkeinError } from '#shared/error.ts';
import { refuseNewerSchema } from '#shared/database/own-schema.ts';

/** A database that does not answer by then is left to the services, which wait for it and look themselves. */
const CONNECT_TIMEOUT_MS = 2_000;

/**
 * Looks at the schemas of all services, before any of them changes something: a catalog that knows its schema would go on with its work
 * while the coordinator refuses, or the other way round. Only reads. @throws NEWER_DATA
 */
export async function refuseNewerDatabase(url: string): Promise<void> {
  const pool = new Pool({ connectionString: url, max: 1, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  pool.on('error', () => undefined);
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    for (const schema of [CATALOG_SCHEMA, COORDINATOR_SCHEMA]) await refuseNewerSchema(db, schema);
  } catch (error) {
    // A service that meets the same fault tells it better.
    if (error instanceof SkeinError) throw error;
  } finally {
    await db.destroy();
  }
}
