import type { StoreCredential } from '#shared/storage/credential.ts';
import { startAnyStore, type AnyStore } from '../any-store.ts';

/** How suites use the bucket of their run; '' = as by default. */
export type OverBucket = { readonly diskCacheSize: string; readonly store: string };

/** The flags and settings of a cluster whose catalog `lake` lies in a bucket. */
export type BucketCluster = {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The store's own key, which may do everything. */
  readonly key: StoreCredential;
};

/** One store for all clusters of a run that keep their tables in a bucket, each below a prefix of its own. */
export class RunBucket {
  #store: Promise<AnyStore> | undefined;
  #made = 0;

  async place({ diskCacheSize, store: kind }: OverBucket): Promise<BucketCluster> {
    this.#store ??= startAnyStore(kind);
    const { root, flags, env, credential } = await this.#store;
    return {
      args: ['--storage', `${root}/${++this.#made}`, ...flags],
      env: { ...env, ...(diskCacheSize === '' ? {} : { SKEIN_WORKER_DISK_CACHE_SIZE: diskCacheSize }) },
      key: credential,
    };
  }

  async stop(): Promise<void> {
    const store = await this.#store?.catch(() => undefined);
    await store?.[Symbol.asyncDispose]();
  }
}
