import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Client } from '#shared/storage/s3/s3-client.ts';
import { openUploads } from '#shared/storage/s3/s3-uploads.ts';
import { startMinio } from './minio.ts';
import { OTHER_STORES, type OtherStore } from './other-stores.ts';

/** A store of any kind, as far as suites use it that run over each of them. It has the bucket `warehouse`. */
export type AnyStore = Omit<OtherStore, 'bucket' | 'longLived' | 'secrets'>;

/** @param kind `gcs` or `adls`; '' = an S3 server. Allow `OTHER_STORE_MS` for the first one. */
export async function startAnyStore(kind: string): Promise<AnyStore> {
  if (kind === 'gcs' || kind === 'adls') return OTHER_STORES[kind]();
  if (kind !== '') throw new Error(`the store is gcs or adls, not ${kind}`);
  await using started = new AsyncDisposableStack();
  const minio = started.use(await startMinio());
  await minio.makeBucket('warehouse');
  const folder = await mkdtemp(join(tmpdir(), 'skein-bucket-key-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const credentials = join(folder, 'key.yaml');
  const { accessKeyId, secretAccessKey } = minio.key;
  const text = `access_key_id: ${accessKeyId}\nsecret_access_key: ${secretAccessKey}\n`;
  await writeFile(credentials, text, { mode: 0o600 });
  const client = new S3Client(minio.key);
  const all = started.move();
  return {
    root: 's3://warehouse',
    flags: ['--flavor', 'minio', '--endpoint', minio.endpoint, '--credentials', credentials],
    env: {},
    credential: minio.key,
    kill: () => minio.kill(),
    start: () => minio.start(),
    openUploads: async () => (await openUploads(client, 'warehouse', '')).length,
    endsUploads: 'skein',
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
