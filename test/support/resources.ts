import { inject } from 'vitest';
import { startCluster, Cluster, type ClusterOptions, type StartedCluster } from './cluster.ts';
import type { BucketCluster } from './run/run-bucket.ts';
import type { SharedClusterFacts } from './run/shared-cluster.ts';

/** A database of the run's Postgres for one suite, with every migration made and nothing else in it. */
export type TestDatabase = { readonly url: string; [Symbol.asyncDispose](): Promise<void> };

export async function createTestDatabase(): Promise<TestDatabase> {
  const made = await ask<{ readonly url: string }>('/databases');
  return { ...made, [Symbol.asyncDispose]: () => ask<void>('/databases/drop', made) };
}

/** A cluster of the suite's own, which it may break, on a database of the run's Postgres unless `env` names another. */
export async function startOwnCluster(options: ClusterOptions = {}): Promise<StartedCluster> {
  const database = await createTestDatabase();
  const over = inject('overBucket');
  const bucket = over === undefined ? { args: [], env: {} } : await ask<BucketCluster>('/bucket', over);
  return startCluster({
    ...options,
    args: [...bucket.args, ...(options.args ?? [])],
    env: { DATABASE_URL: database.url, ...bucket.env, ...options.env },
    onStopped: () => database[Symbol.asyncDispose](),
  });
}

/**
 * The cluster that suites share, which runs already: two workers, TPC-H at scale 0.01 in `lake.tpch`. A suite makes its tables in a
 * namespace or tenant of its own, changes nothing of `lake.tpch`, and does not count on being alone.
 */
export async function sharedCluster(): Promise<{ readonly cluster: Cluster; readonly databaseUrl: string }> {
  const { ready, databaseUrl } = await ask<SharedClusterFacts>('/cluster', inject('overBucket'));
  return { cluster: new Cluster(ready), databaseUrl };
}

/** The shared cluster with the tables of `test/slt/fixture.sql` in `lake.t`, and what names stand for in a `.slt` file. */
export async function sharedFixture(): Promise<{
  readonly cluster: Cluster;
  readonly names: Readonly<Record<string, string>>;
}> {
  const names = await ask<Readonly<Record<string, string>>>('/fixture', inject('overBucket'));
  return { cluster: (await sharedCluster()).cluster, names };
}

async function ask<T>(path: string, body: unknown = null): Promise<T> {
  const response = await fetch(inject('resourcesUrl') + path, { method: 'POST', body: JSON.stringify(body ?? null) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${text}`);
  return JSON.parse(text) as T;
}
