import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestCatalog } from './catalog.ts';
import type { Cluster } from './cluster.ts';
import type { Minio } from './minio.ts';

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
