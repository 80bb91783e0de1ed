import { Migrator } from 'kysely';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { withClient } from './connect.ts';
import { MIGRATIONS } from './migrations.ts';
import type { Database } from './tables.ts';

/** Key of the advisory lock under which one catalog process at a time migrates and bootstraps. */
const STARTUP_LOCK = 5_324_001;

/** Runs `work` while no other catalog process does. */
export function underStartupLock<T>(config: Config, work: () => Promise<T>): Promise<T> {
  return withClient(config, async (client) => {
    await client.query('select pg_advisory_lock($1)', [STARTUP_LOCK]);
    return work();
  });
}

/** Brings the schema `catalog` up to date. @throws START_FAILED */
export async function migrate(db: Database): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(MIGRATIONS) },
    migrationTableSchema: 'catalog',
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) {
    const why = error instanceof Error ? error.message : 'unknown';
    throw new SkeinError('START_FAILED', `the catalog's tables cannot be brought up to date: ${why}`, {
      cause: error,
    });
  }
}
