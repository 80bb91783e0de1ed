import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CATALOG_SCHEMA } from '#catalog/store/postgres/migrations.ts';
import { refuseNewerDatabase } from '#cli/up/refuse-newer-database.ts';
import { COORDINATOR_SCHEMA } from '#coordinator/history/history-database.ts';
import { migrateSchema, type OwnSchema } from '#shared/database/own-schema.ts';
import { must } from '#shared/must.ts';
import { SKEIN_RELEASE } from '#shared/release.ts';
import { skein, type CliResult } from '#test/support/cluster.ts';
import { dumpDatabase, recordStatements } from './dump-database.ts';
import { withEmbeddedPostgres } from './embedded-postgres.ts';

/** Data of a later release is refused, with both versions in the error, and stays unchanged. */

let dataDir: string;
beforeEach(async () => void (dataDir = await mkdtemp(join(tmpdir(), 'skein-newer-'))));
afterEach(() => rm(dataDir, { recursive: true, force: true, maxRetries: 3 }));

/** Sorts after the name of every migration. */
const FUTURE = 'zzzz_future';

/** A start that is not refused is ended. */
const REFUSED_WITHIN_MS = 60_000;

const up = (): Promise<CliResult> =>
  skein(['up', '--data-dir', dataDir, '--port-base', '0', '--workers', '1'], { timeoutMs: REFUSED_WITHIN_MS });

/** Checks that it has exited with 1, and that its last line gives the reason. */
function expectRefused({ code, stdout }: CliResult, message: string): void {
  const line = must(stdout.trim().split('\n').at(-1), 'a command that fails says so');
  expect({ code, line: JSON.parse(line) as unknown }).toEqual({
    code: 1,
    line: { event: 'failed', code: 'NEWER_DATA', message },
  });
}

/** Every file below the data directory with its time and contents. */
async function contents(): Promise<readonly string[]> {
  const paths = (await readdir(dataDir, { recursive: true })).sort();
  return Promise.all(
    paths.map(async (path) => {
      const { mtimeMs } = await stat(join(dataDir, path));
      return `${path} ${mtimeMs} ${await readFile(join(dataDir, path), 'utf8')}`;
    }),
  );
}

test('a data directory of a newer format', async () => {
  await writeFile(join(dataDir, 'format.json'), '{"format": 1000, "release": "99.0.0"}');
  // A killed launcher has left this file: the release that wrote it needs it to end the services that may still run.
  await writeFile(join(dataDir, 'services.json'), '{}');
  const before = await contents();
  const message = `${dataDir} has format 1000, of Skein 99.0.0; this is Skein ${SKEIN_RELEASE}, which knows formats up to 1`;
  expectRefused(await up(), message);
  expect(await contents()).toEqual(before);
});

const refusal = ({ name, migrations }: OwnSchema): string =>
  `the database's schema ${name} has the migration ${FUTURE}, of another release; ` +
  `this is Skein ${SKEIN_RELEASE}, which knows migrations up to ${Object.keys(migrations).at(-1)}`;

test('a database with a newer migration: by each service alone, and by skein up before any service starts', async () => {
  const before = await withEmbeddedPostgres(dataDir, async (client, url) => {
    await recordStatements(client);
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: new Pool({ connectionString: url }) }) });
    for (const schema of [CATALOG_SCHEMA, COORDINATOR_SCHEMA]) {
      await migrateSchema(db, schema);
      await client.query(
        `insert into ${schema.name}.kysely_migration values ('${FUTURE}', '${new Date().toISOString()}')`,
      );
    }
    await db.destroy();
    const both = await dumpDatabase(client);
    const settings = { DATABASE_URL: url, SKEIN_CLUSTER_SECRET: 'newer', SKEIN_DATA_DIR: join(dataDir, 'services') };
    const ports = { SKEIN_CATALOG_PORT: '0', SKEIN_COORDINATOR_HTTP_PORT: '0' };
    const [catalog, coordinator] = await Promise.all(
      (['catalog', 'coordinator'] as const).map((name) =>
        skein([name], { env: { ...settings, ...ports }, timeoutMs: REFUSED_WITHIN_MS }),
      ),
    );
    expectRefused(must(catalog, 'it has run'), refusal(CATALOG_SCHEMA));
    expectRefused(must(coordinator, 'it has run'), refusal(COORDINATOR_SCHEMA));
    await expect(refuseNewerDatabase(url)).rejects.toThrow(refusal(CATALOG_SCHEMA));
    expect(await dumpDatabase(client)).toBe(both);
    // A catalog that started now would make the first tenant, though the coordinator refuses.
    await client.query('delete from catalog.kysely_migration where name = $1', [FUTURE]);
    return dumpDatabase(client);
  });
  expectRefused(await up(), refusal(COORDINATOR_SCHEMA));
  expect(await withEmbeddedPostgres(dataDir, dumpDatabase)).toBe(before);
});
