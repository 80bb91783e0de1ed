import { chmod, cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withEmbeddedPostgres } from './embedded-postgres.ts';
import { fixtureFolder } from './fixture.ts';

/**
 * Puts a fixture into an empty data directory. Its Postgres is a new one with the old contents: a folder of Postgres itself belongs to
 * one platform, and is forty times too large for a repository.
 */
export async function restoreFixture(name: string, dataDir: string): Promise<void> {
  const folder = fixtureFolder(name);
  await cp(join(folder, 'data'), dataDir, { recursive: true });
  // git keeps no modes.
  const secrets = join(dataDir, 'secrets');
  await chmod(secrets, 0o700);
  for (const file of await readdir(secrets)) await chmod(join(secrets, file), 0o600);
  const database = await readFile(join(folder, 'database.sql'), 'utf8');
  await withEmbeddedPostgres(dataDir, (client) => client.query(database));
}
