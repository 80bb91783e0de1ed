import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { S3Credential } from '#shared/storage/credential.ts';
import { startMinio, type Minio } from '../minio.ts';

/** How suites use the bucket of their run; '' = as by default. */
export type OverBucket = { readonly diskCacheSize: string };

/** The flags and settings of a cluster whose catalog `lake` lies in a bucket. */
export type BucketCluster = {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The store's own key, which may do everything. */
  readonly key: S3Credential;
};

type Store = { readonly minio: Minio; readonly folder: string; readonly credentials: string };

/** One S3 server for all clusters of a run that keep their tables in a bucket, each below a prefix of its own. */
export class RunBucket {
  #store: Promise<Store> | undefined;
  #made = 0;

  async place({ diskCacheSize }: OverBucket): Promise<BucketCluster> {
    this.#store ??= startStore();
    const { minio, credentials } = await this.#store;
    const store = ['--flavor', 'minio', '--endpoint', minio.endpoint, '--credentials', credentials];
    return {
      args: ['--storage', `s3://warehouse/${++this.#made}`, ...store],
      env: diskCacheSize === '' ? {} : { SKEIN_WORKER_DISK_CACHE_SIZE: diskCacheSize },
      key: minio.key,
    };
  }

  async stop(): Promise<void> {
    const store = await this.#store?.catch(() => undefined);
    if (store === undefined) return;
    await store.minio[Symbol.asyncDispose]();
    await rm(store.folder, { recursive: true, force: true });
  }
}

async function startStore(): Promise<Store> {
  const minio = await startMinio();
  await minio.makeBucket('warehouse');
  const folder = await mkdtemp(join(tmpdir(), 'skein-run-bucket-'));
  const credentials = join(folder, 'key.yaml');
  const { accessKeyId, secretAccessKey } = minio.key;
  const text = `access_key_id: ${accessKeyId}\nsecret_access_key: ${secretAccessKey}\n`;
  await writeFile(credentials, text, { mode: 0o600 });
  return { minio, folder, credentials };
}
