import { readFile } from 'node:fs/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { inject } from 'vitest';
import { openStorage } from '#shared/storage/open-storage.ts';
import { startCluster, Cluster, type ClusterOptions, type StartedCluster } from './cluster.ts';
import { FILE_CREDENTIAL } from './file-credential.ts';
import type { BucketCluster, OverBucket } from './run/run-bucket.ts';
import type { SharedClusterFacts } from './run/shared-cluster.ts';

/** A database of the run's Postgres for one suite, with every migration made and nothing else in it. */
export type TestDatabase = { readonly url: string; [Symbol.asyncDispose](): Promise<void> };

export async function createTestDatabase(): Promise<TestDatabase> {
  const made = await ask<{ readonly url: string }>('/databases');
  return { ...made, [Symbol.asyncDispose]: () => ask<void>('/databases/drop', made) };
}

/** Whether the suite's tables lie in local files, which it may look at; false where it runs over a bucket (`npm run test:bucket`). */
export const hasLocalFiles = (): boolean => inject('overBucket') === undefined;

/** The environment of Python whose PyIceberg reads the suite's tables: Azure's store needs a library more. */
export const pyIceberg = (): 'python' | 'azure' => (inject('overBucket')?.store === 'adls' ? 'azure' : 'python');

/** The files below a folder of one of the run's clusters, by their names below it; those of a bucket are found by the store's own key. */
export async function filesBelow(location: string): Promise<readonly string[]> {
  const over = inject('overBucket');
  const key = over === undefined ? FILE_CREDENTIAL : (await bucketOf(over)).key;
  const files = (await Array.fromAsync(openStorage(location, key).list(location))).flat();
  return files.map((file) => file.slice(location.length + 1)).toSorted();
}

/** A cluster of the suite's own, which it may break, on a database of the run's Postgres unless `env` names another. */
export async function startOwnCluster(options: ClusterOptions = {}): Promise<StartedCluster> {
  const database = await createTestDatabase();
  const over = inject('overBucket');
  const bucket = over === undefined ? { args: [], env: {} } : await bucketOf(over);
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
  const over = inject('overBucket');
  const { ready, databaseUrl } = await ask<SharedClusterFacts>('/cluster', over);
  if (over !== undefined) await bucketOf(over);
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

/** A place in the run's store, whose authority this process trusts from now on, too: suites call the store by addresses that it is given. */
async function bucketOf(over: OverBucket): Promise<BucketCluster> {
  const bucket = await ask<BucketCluster>('/bucket', over);
  const authority = bucket.env['NODE_EXTRA_CA_CERTS'];
  if (authority !== undefined) {
    setDefaultCACertificates([...getCACertificates('default'), await readFile(authority, 'utf8')]);
    // And so do the commands that it starts.
    process.env['NODE_EXTRA_CA_CERTS'] = authority;
  }
  return bucket;
}

async function ask<T>(path: string, body: unknown = null): Promise<T> {
  const response = await fetch(inject('resourcesUrl') + path, { method: 'POST', body: JSON.stringify(body ?? null) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${text}`);
  return JSON.parse(text) as T;
}
