import { must } from '#shared/must.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { startAnyStore, type AnyStore } from './any-store.ts';
import type { ClusterOptions, StartedCluster } from './cluster.ts';
import { startOwnCluster } from './resources.ts';
import { startStoreProxy, type StoreProxy } from './store-proxy.ts';

/**
 * A cluster whose catalog `cloud` lies in a bucket behind a proxy that can break the store: S3's, or that of Google or Azure where
 * `TEST_BUCKET_STORE` is `gcs` or `adls`.
 */
export type FaultyCluster = AsyncDisposable & {
  readonly store: AnyStore;
  readonly proxy: StoreProxy;
  readonly cluster: StartedCluster;
  /** The objects of the catalog. */
  objects(): Promise<readonly string[]>;
};

/** @param seed of the proxy's faults. Allow `OTHER_STORE_MS` for the first one. */
export async function startFaultyCluster({
  seed = 1,
  ...options
}: ClusterOptions & { readonly seed?: number } = {}): Promise<FaultyCluster> {
  await using started = new AsyncDisposableStack();
  const store = started.use(await startAnyStore(process.env['TEST_BUCKET_STORE'] ?? ''));
  const endpoint = must(store.credential.endpoint, 'a store of a test has an address');
  const proxy = started.use(await startStoreProxy(endpoint, seed));
  const cluster = started.use(await startOwnCluster({ ...options, env: { ...store.env, ...options.env } }));
  const root = `${store.root}/lake`;
  const flags = store.flags.map((flag) => (flag === endpoint ? proxy.endpoint : flag));
  await cluster.cliOk(['admin', 'catalog', 'create', 'cloud', '--storage', root, ...flags]);
  const all = started.move();
  return {
    store,
    proxy,
    cluster,
    objects: async () => (await Array.fromAsync(openStorage(root, store.credential).list(root))).flat(),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
