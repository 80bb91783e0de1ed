import { basename, matchesGlob } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster, QueryAnswer } from './cluster.ts';
import { filesBelow } from './resources.ts';

/** The laws of a write amid which a process was killed, as the suites `test/cluster/*-kills.test.ts` check them. */

/** Time from the death of a process until nothing is left of what it was writing, and its history record has ended. */
export const GONE_MS_MAX = 60_000;

/** The answer of a statement; `lost`: its connection broke. */
export type Answered = QueryAnswer | 'lost';

/** The cluster's own database: a client, or a pool, which connects again. */
export interface OwnDatabase {
  query(sql: string, values?: unknown[]): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>;
}

/** A cluster whose processes are killed, and its database. */
export type Killable = { readonly cluster: Cluster; readonly database: OwnDatabase };

/** Asks until there is an answer: a process may be starting again. @throws the last error, after `GONE_MS_MAX` */
export async function settled<T>(ask: () => Promise<T>): Promise<T> {
  for (const endMs = performance.now() + GONE_MS_MAX; ; await sleep(200)) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
  }
}

/** Options of `expect.poll`, each time with the rest of `GONE_MS_MAX` from now on. */
export function untilGone(): () => { readonly timeout: number; readonly interval: number } {
  const endMs = performance.now() + GONE_MS_MAX;
  return () => ({ timeout: Math.max(1_000, endMs - performance.now()), interval: 50 });
}

/** Whether a statement was told how it ended. */
export const isAnswered = (answer: Answered): answer is QueryAnswer =>
  answer !== 'lost' && answer.body.error !== 'COMMIT_STATE_UNKNOWN';

/** Waits for the end of a statement's history record. @returns whether it was completed; otherwise it failed */
export async function isCompleted(
  { database }: Pick<Killable, 'database'>,
  queryId: string,
  left = untilGone(),
): Promise<boolean> {
  const status = async (): Promise<unknown> => {
    const { rows } = await database.query('SELECT status FROM coordinator.query_history WHERE query_id = $1', [
      queryId,
    ]);
    return rows[0]?.['status'];
  };
  await expect.poll(status, left()).toMatch(/^(completed|failed)$/);
  return (await status()) === 'completed';
}

/**
 * Waits until no write is open. A write that failed, or that may have tried a task twice, stays open for 30 s, and each coordinator that dies
 * leaves its own to the next one: so a suite asks once, at its end.
 */
export async function expectNoOpenWrite({ database }: Pick<Killable, 'database'>): Promise<void> {
  const open = async (): Promise<unknown> => (await database.query('SELECT * FROM coordinator.write_intents')).rows;
  await expect.poll(open, { timeout: GONE_MS_MAX, interval: 200 }).toEqual([]);
}

/** The location of a table. @param table as `lake.kills.t` */
export async function folderOf(cluster: Cluster, table: string): Promise<string> {
  const [catalog, namespace, name] = table.split('.');
  const { status, body } = await cluster.catalog('GET', `/v1/${catalog}/namespaces/${namespace}/tables/${name}`);
  if (status !== 200) throw new Error(`${table}: HTTP ${status}`);
  return (body as { metadata: { location: string } }).metadata.location;
}

/** Paths of the files of a pattern below a location. */
export const filesIn = async (location: string, pattern: string): Promise<readonly string[]> =>
  (await filesBelow(location)).filter((file) => matchesGlob(file, pattern));

/** The table's folder comes to have the data, delete and manifest files of its snapshots, and no others. */
export async function expectOnlyReached(cluster: Cluster, table: string, left = untilGone()): Promise<void> {
  const folder = await settled(() => folderOf(cluster, table));
  const { files, lists } = await settled(() => reached(cluster, table));
  const there = async (): Promise<readonly string[]> =>
    (await filesIn(folder, '**/*.{parquet,puffin,avro}'))
      .map((file) => basename(file))
      .filter((file) => !isList(file))
      .sort();
  await expect.poll(there, left()).toEqual(files);
  await expect.poll(async () => (await filesIn(folder, '**/snap-*.avro')).length, left()).toBe(lists);
}

const isList = (file: string): boolean => file.startsWith('snap-');

/** Names of the files that some snapshot of the table has, sorted; its manifest lists are only counted. */
async function reached(
  cluster: Cluster,
  table: string,
): Promise<{ readonly files: readonly string[]; readonly lists: number }> {
  const metadata = (kind: string): string => table.replace(/[^.]+$/, `"$&$$${kind}"`);
  const ids = (await cluster.sql(`SELECT snapshot_id::VARCHAR FROM ${metadata('snapshots')}`)).flat();
  const found = new Set<string>();
  for (const id of ids) {
    const of = (kind: string, path: string): string =>
      `SELECT ${path} FROM ${metadata(kind)} AT (VERSION => ${id as string})`;
    const paths = await cluster.sql(`${of('files', 'file_path')} UNION ALL ${of('manifests', 'path')}`);
    for (const [path] of paths) found.add(basename(must(path, 'a path') as string));
  }
  return { files: [...found].sort(), lists: ids.length };
}

/** A load of files into a table of two columns, whose first has the numbers from 0 on. */
export type Load = { readonly copy: string; readonly table: string; readonly files: number; readonly rows: number };

/**
 * The files of a load count as loaded exactly when their rows are there; the next statement loads them, or leaves them out.
 * @param isMade whether the rows are there
 */
export async function checkLoads({ cluster, database }: Killable, load: Load, isMade: boolean): Promise<void> {
  const { copy, table, files, rows } = load;
  const remembered = async (): Promise<number> => {
    const sql =
      'SELECT l.path FROM catalog.loaded_file l JOIN catalog.iceberg_table t ON t.id = l.table_id WHERE t.name = $1';
    return (await database.query(sql, [must(table.split('.').at(-1), 'a name')])).rows.length;
  };
  expect(await settled(remembered)).toBe(isMade ? files : 0);
  expect(await settled(() => cluster.sql(copy))).toHaveLength(isMade ? 0 : files);
  const counts = `SELECT count(*)::INT || ' of ' || count(DISTINCT i)::INT FROM ${table} WHERE i >= 0`;
  expect(await settled(() => cluster.sql(counts))).toEqual([[`${rows} of ${rows}`]]);
  expect(await settled(remembered)).toBe(files);
}
