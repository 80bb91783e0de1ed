import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { KeepAliveClient } from '../http/keep-alive-client.ts';
import { quantile } from '../report/statistics.ts';

export type InsertFigures = {
  readonly name: string;
  readonly clients: number;
  readonly tables: number;
  readonly commits: number;
  /** INSERTs that were answered with an error. */
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly perSecond: number;
  /** Rate in the last tenth of the time to that in the first: what a table's history costs. */
  readonly lastToFirst: number;
  /** The same of a client that asks SELECT 1 meanwhile: what the machine did. */
  readonly probeLastToFirst: number;
  /** Bytes of metadata files written, by INSERT. */
  readonly metadataBytesPerCommit: number;
};

const CASES = [
  { name: '1 client', clients: 1, tables: 1 },
  { name: '8 clients, 8 tables', clients: 8, tables: 8 },
  { name: '16 clients, 1 table', clients: 16, tables: 1 },
] as const;

/** Milliseconds after the start at which requests were answered, and how long each took. */
type Times = { readonly atMs: readonly number[]; readonly tookMs: readonly number[]; readonly failed: number };

/** Inserts one row at a time for `seconds`, into new tables. */
export async function benchInserts(
  cluster: Cluster,
  schema: string,
  seconds: number,
): Promise<readonly InsertFigures[]> {
  const client = new KeepAliveClient(cluster.queryUrl, await cluster.token());
  const figures: InsertFigures[] = [];
  try {
    for (const { name, clients, tables } of CASES) {
      const names = Array.from({ length: tables }, (_, i) => `inserted_${clients}_${i}`);
      for (const table of names) {
        // A table that is replaced keeps the snapshots of the run before.
        await cluster.sql(`DROP TABLE IF EXISTS ${schema}.${table} PURGE`);
        await cluster.sql(`CREATE TABLE ${schema}.${table} (a BIGINT, b VARCHAR)`);
      }
      const before = await metadataBytes(cluster, names);
      const endMs = performance.now() + seconds * 1_000;
      const insert = (id: number): Promise<string> =>
        client.post(JSON.stringify({ sql: `INSERT INTO ${schema}.${names[id % tables] ?? ''} VALUES (${id}, 'b')` }));
      const [probe, ...times] = await Promise.all([
        loop(endMs, () => client.post(JSON.stringify({ sql: 'SELECT 1' })), PROBE_PAUSE_MS),
        ...Array.from({ length: clients }, (_, id) => loop(endMs, () => insert(id))),
      ]);
      const took = times.flatMap(({ tookMs }) => tookMs);
      const at = times.flatMap(({ atMs }) => atMs);
      figures.push({
        name,
        clients,
        tables,
        commits: took.length,
        failed: times.reduce((sum, one) => sum + one.failed, 0),
        p50Ms: quantile(took, 0.5),
        p99Ms: quantile(took, 0.99),
        perSecond: took.length / seconds,
        lastToFirst: lastToFirst(at, seconds),
        probeLastToFirst: lastToFirst(probe.atMs, seconds),
        metadataBytesPerCommit: ((await metadataBytes(cluster, names)) - before) / took.length,
      });
      process.stderr.write('.');
    }
    return figures;
  } finally {
    client.close();
  }
}

/** Between two questions of the probe, so that it takes little from the INSERTs. */
const PROBE_PAUSE_MS = 20;

async function loop(endMs: number, request: () => Promise<unknown>, pauseMs = 0): Promise<Times> {
  const beganMs = performance.now();
  const atMs: number[] = [];
  const tookMs: number[] = [];
  let failed = 0;
  while (performance.now() < endMs) {
    const startedMs = performance.now();
    try {
      await request();
      atMs.push(performance.now() - beganMs);
      tookMs.push(performance.now() - startedMs);
    } catch {
      failed += 1;
    }
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return { atMs, tookMs, failed };
}

function lastToFirst(atMs: readonly number[], seconds: number): number {
  const tenth = (seconds * 1_000) / 10;
  const first = atMs.filter((at) => at < tenth).length;
  const last = atMs.filter((at) => at >= 9 * tenth && at < 10 * tenth).length;
  return last / Math.max(1, first);
}

async function metadataBytes(cluster: Cluster, tables: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const table of tables) {
    const { body } = await cluster.catalog('GET', `/v1/lake/namespaces/writes/tables/${table}`);
    const { location } = must((body as { metadata?: { location: string } }).metadata, 'a table has metadata');
    const folder = join(fileURLToPath(new URL(location)), 'metadata');
    for (const file of await readdir(folder)) bytes += (await stat(join(folder, file))).size;
  }
  return bytes;
}
