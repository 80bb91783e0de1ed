import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterOptions, StartedCluster } from './cluster.ts';
import type { Minio } from './minio.ts';
import { startOwnCluster } from './resources.ts';

/** A cluster whose first catalog, `lake`, lies in a bucket. @param endpoint by which the cluster calls the store */
export async function startBucketCluster(
  { key }: Minio,
  { endpoint, ...options }: ClusterOptions & { readonly endpoint: string },
): Promise<StartedCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'skein-key-'));
  try {
    const file = join(folder, 'key.json');
    const { accessKeyId, secretAccessKey } = key;
    await writeFile(file, JSON.stringify({ access_key_id: accessKeyId, secret_access_key: secretAccessKey }));
    const store = ['--flavor', 'minio', '--endpoint', endpoint, '--credentials', file];
    return await startOwnCluster({ ...options, args: ['--storage', 's3://warehouse/lake', ...store] });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
