import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStorage } from '#shared/storage/open-storage.ts';
import { startTestCatalog, type TestCatalog } from './catalog.ts';
import type { Cluster, ClusterOptions, StartedCluster } from './cluster.ts';
import { startMinio, type Minio } from './minio.ts';
import { startOwnCluster } from './resources.ts';
import { startStoreProxy, type StoreProxy } from './store-proxy.ts';
import { startStsRelay, type StsRelay } from './sts-relay.ts';

/** A store and a catalog process, without a coordinator and workers. */
export type BucketCatalog = AsyncDisposable & {
  /** It has the bucket `warehouse`. */
  readonly minio: Minio;
  /** Between the catalog `cloud` and the store's STS. */
  readonly sts: StsRelay;
  /**
   * Its catalogs `cloud`, at `s3://warehouse/lake`, and `plain`, at `s3://warehouse/plain` of a store without STS, have the namespace `s`.
   */
  readonly catalog: TestCatalog;
};

/** Allow `MINIO_BUILD_MS` for the first one. */
export async function startBucketCatalog(): Promise<BucketCatalog> {
  await using started = new AsyncDisposableStack();
  const minio = started.use(await startMinio());
  await minio.makeBucket('warehouse');
  const sts = started.use(await startStsRelay(minio.endpoint));
  const catalog = started.use(await startTestCatalog());
  await addBucketCatalog(catalog, minio, {
    name: 'cloud',
    location: 's3://warehouse/lake',
    settings: { 'sts-endpoint': sts.endpoint },
  });
  await addBucketCatalog(catalog, minio, {
    name: 'plain',
    location: 's3://warehouse/plain',
    settings: { flavor: 'compatible', 'path-style': 'true' },
  });
  for (const name of ['cloud', 'plain']) {
    await catalog.rest('POST', `/v1/${name}/namespaces`, { body: { namespace: ['s'] } });
  }
  const all = started.move();
  return { minio, sts, catalog, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** A cluster whose catalog `cloud` lies in a bucket, at `s3://warehouse/lake`, behind a proxy that can break the store. */
export type BucketCluster = AsyncDisposable & {
  readonly minio: Minio;
  readonly proxy: StoreProxy;
  readonly cluster: StartedCluster;
};

/** @param seed of the proxy's faults. Allow `MINIO_BUILD_MS` for the first one. */
export async function startBucketCluster({
  seed = 1,
  ...options
}: ClusterOptions & { readonly seed?: number } = {}): Promise<BucketCluster> {
  await using started = new AsyncDisposableStack();
  const minio = started.use(await startMinio());
  await minio.makeBucket('warehouse');
  const proxy = started.use(await startStoreProxy(minio.endpoint, seed));
  const cluster = started.use(await startOwnCluster(options));
  const throughProxy = { ...minio, endpoint: proxy.endpoint };
  await makeBucketCatalog(cluster, throughProxy, { name: 'cloud', location: 's3://warehouse/lake' });
  const all = started.move();
  return { minio, proxy, cluster, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** The objects below a folder, with the server's own key. */
export async function objectsBelow({ key }: Pick<Minio, 'key'>, folder: string): Promise<readonly string[]> {
  return (await Array.fromAsync(openStorage(folder, key).list(folder))).flat();
}

/** Makes a catalog whose files lie in a bucket, as an operator does, with the server's own key. */
export async function makeBucketCatalog(
  cluster: Cluster,
  minio: Minio,
  {
    name,
    location,
    flags = [],
  }: { readonly name: string; readonly location: string; readonly flags?: readonly string[] },
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'skein-key-'));
  try {
    const file = join(folder, 'key.yaml');
    const { accessKeyId, secretAccessKey } = minio.key;
    await writeFile(file, `access_key_id: ${accessKeyId}\nsecret_access_key: ${secretAccessKey}\n`, { mode: 0o600 });
    const bucket = ['--storage', location, '--endpoint', minio.endpoint, '--credentials', file, ...flags];
    await cluster.cliOk(['admin', 'catalog', 'create', name, ...bucket, '--flavor', 'minio']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The same by the internal call, for a catalog of a test's own process. */
export async function addBucketCatalog(
  { call }: Pick<TestCatalog, 'call'>,
  { endpoint, key }: Pick<Minio, 'endpoint' | 'key'>,
  {
    name,
    location,
    tenant = 'default',
    settings = {},
  }: {
    readonly name: string;
    readonly location: string;
    readonly tenant?: string;
    readonly settings?: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const { accessKeyId, secretAccessKey } = key;
  await call('CreateCatalog', {
    tenant,
    name,
    location,
    bucket: {
      settings: { flavor: 'minio', endpoint, ...settings },
      key: { access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: '' },
    },
  });
}
