import { Migrator, sql, type Kysely, type Migration } from 'kysely';
import { SkeinError } from '#shared/error.ts';
import { SKEIN_RELEASE } from '#shared/release.ts';

/** A Postgres schema of Skein with the migrations that this release knows. They run in the order of their names. */
export type OwnSchema = { readonly name: string; readonly migrations: Readonly<Record<string, Migration>> };

const MIGRATION_TABLE = 'kysely_migration';

/**
 * Applies the missing migrations of a schema.
 * @throws NEWER_DATA before anything is changed; START_FAILED
 */
export async function migrateSchema<Tables>(db: Kysely<Tables>, schema: OwnSchema): Promise<void> {
  await refuseNewerSchema(db, schema);
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...schema.migrations }) },
    migrationTableSchema: schema.name,
    migrationTableName: MIGRATION_TABLE,
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) {
    const why = error instanceof Error ? error.message : 'unknown';
    throw new SkeinError('START_FAILED', `the schema ${schema.name} cannot be brought up to date: ${why}`, {
      cause: error,
    });
  }
}

/**
 * Checks a schema without changing it. @throws NEWER_DATA when it has a migration that this release does not know, naming the newest of
 * both
 */
export async function refuseNewerSchema<Tables>(db: Kysely<Tables>, schema: OwnSchema): Promise<void> {
  const newest = (await appliedMigrations(db, schema.name)).findLast((name) => !Object.hasOwn(schema.migrations, name));
  if (newest === undefined) return;
  const known = Object.keys(schema.migrations).sort().at(-1);
  throw new SkeinError(
    'NEWER_DATA',
    `the database's schema ${schema.name} has the migration ${newest}, of another release; this is Skein ${SKEIN_RELEASE}, which knows migrations up to ${known}`,
  );
}

/** Returns the names of the applied migrations in order; none when the schema does not exist yet. */
async function appliedMigrations<Tables>(db: Kysely<Tables>, schema: string): Promise<readonly string[]> {
  const table = sql.id(schema, MIGRATION_TABLE);
  const found = await sql<{ name: string | null }>`
    select to_regclass(${`${schema}.${MIGRATION_TABLE}`})::text as name`.execute(db);
  if ((found.rows[0]?.name ?? null) === null) return [];
  const { rows } = await sql<{ name: string }>`select name from ${table} order by name collate "C"`.execute(db);
  return rows.map(({ name }) => name);
}
