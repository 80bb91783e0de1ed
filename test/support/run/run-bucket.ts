import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreCredential } from '#shared/storage/credential.ts';
import { startMinio } from '../minio.ts';
import { OTHER_STORES } from '../other-stores.ts';

/** How suites use the bucket of their run; '' = as by default. */
export type OverBucket = { readonly diskCacheSize: string; readonly store: string };

/** The flags and settings of a cluster whose catalog `lake` lies in a bucket. */
export type BucketCluster = {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The store's own key, which may do everything. */
  readonly key: StoreCredential;
};

type Store = AsyncDisposable & {
  readonly root: string;
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly credential: StoreCredential;
};

/** One store for all clusters of a run that keep their tables in a bucket, each below a prefix of its own. */
export class RunBucket {
  #store: Promise<Store> | undefined;
  #made = 0;

  async place({ diskCacheSize, store: kind }: OverBucket): Promise<BucketCluster> {
    this.#store ??= startStore(kind);
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

async function startStore(kind: string): Promise<Store> {
  if (kind === 'gcs' || kind === 'adls') return OTHER_STORES[kind]();
  if (kind !== '') throw new Error(`TEST_BUCKET_STORE is gcs or adls, not ${kind}`);
  await using started = new AsyncDisposableStack();
  const minio = started.use(await startMinio());
  await minio.makeBucket('warehouse');
  const folder = await mkdtemp(join(tmpdir(), 'skein-run-bucket-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const credentials = join(folder, 'key.yaml');
  const { accessKeyId, secretAccessKey } = minio.key;
  const text = `access_key_id: ${accessKeyId}\nsecret_access_key: ${secretAccessKey}\n`;
  await writeFile(credentials, text, { mode: 0o600 });
  const all = started.move();
  return {
    root: 's3://warehouse',
    flags: ['--flavor', 'minio', '--endpoint', minio.endpoint, '--credentials', credentials],
    env: {},
    credential: minio.key,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
