import { cp, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Client } from 'pg';
import { printJson, type JsonObject } from '#shared/json.ts';
import { SKEIN_RELEASE } from '#shared/release.ts';
import { projectRoot, run, startCluster } from '#test/support/cluster.ts';
import { dumpDatabase, recordStatements } from './dump-database.ts';
import { withEmbeddedPostgres } from './embedded-postgres.ts';
import { fillCluster, SETTINGS } from './fill-cluster.ts';
import { fixtureFolder, takePlace, type Fixture } from './fixture.ts';

/** Largest fixture: the repository keeps them all. */
const BYTES_MAX = 1_000_000;
/** Entries of a data directory that a fixture has in another form or not at all. An entry that later code adds is kept. */
const NOT_KEPT = new Set(['postgres', 'logs', 'spill', 'tmp']);
/** Folders that make what a fixture holds. */
const CODE = ['catalog', 'cli', 'coordinator', 'proto', 'shared', 'worker'];

/**
 * `npm run upgrade:fixture -- [--name NAME]`: makes a data directory with the code of this commit, for test/upgrade/upgrade.test.ts. Run it
 * before a change of stored data, on the commit before that change. Its name is the version and the commit, unless another is given.
 */
async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { name: { type: 'string' } } });
  const commit = await committed();
  const name = values.name ?? `${SKEIN_RELEASE.replace(/\+.*/, '')}-${commit}`;
  await using place = await takePlace();
  const { dataDir } = place;
  await writeFile(join(dataDir, 'skein.yaml'), SETTINGS);
  await withEmbeddedPostgres(dataDir, recordStatements);
  const cluster = await startCluster({ dataDir, workers: 1 });
  let filled: Awaited<ReturnType<typeof fillCluster>>;
  try {
    filled = await fillCluster(cluster);
  } finally {
    await cluster.stop();
  }
  const { database, history } = await withEmbeddedPostgres(dataDir, async (client) => ({
    database: await dumpDatabase(client),
    history: await recordedHistory(client),
  }));
  const folder = fixtureFolder(name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'data'), { recursive: true });
  for (const entry of await readdir(dataDir)) {
    if (!NOT_KEPT.has(entry)) await cp(join(dataDir, entry), join(folder, 'data', entry), { recursive: true });
  }
  await writeFile(join(folder, 'database.sql'), database);
  const fixture: Fixture = { commit, ...filled, history };
  await writeFile(join(folder, 'fixture.json'), printed(fixture));
  const bytes = await sizeOf(folder);
  if (bytes > BYTES_MAX) throw new Error(`${folder} has ${bytes} bytes, more than ${BYTES_MAX}`);
  process.stdout.write(`${folder}: ${bytes} bytes\n`);
}

/** The commit of this code. @throws Error when the code has changes that no commit has */
async function committed(): Promise<string> {
  const changes = await run('git', ['status', '--porcelain', '--', ...CODE], { cwd: projectRoot });
  if (changes.stdout !== '') throw new Error(`a fixture is of a commit, but the code has changes:\n${changes.stdout}`);
  return (await run('git', ['rev-parse', '--short=9', 'HEAD'], { cwd: projectRoot })).stdout.trim();
}

async function recordedHistory(client: Client): Promise<readonly JsonObject[]> {
  const { rows } = await client.query<{ record: JsonObject }>(
    'select to_jsonb(h) as record from coordinator.query_history h order by queued_at, record_id',
  );
  return rows.map(({ record }) => record);
}

/** JSON with a line for each query, document and record. */
function printed(fixture: Fixture): string {
  const members = Object.entries(fixture).map(([name, value]) => {
    const text = Array.isArray(value) ? `[\n${value.map((item) => printJson(item)).join(',\n')}\n]` : printJson(value);
    return `"${name}": ${text}`;
  });
  return `{\n${members.join(',\n')}\n}\n`;
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(file.parentPath, file.name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

await main(process.argv.slice(2));
