import { glob, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { must } from '#shared/must.ts';
import type { StoreCredential } from '#shared/storage/credential.ts';
import { isInBucket } from '#shared/storage/location.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { Cluster } from './cluster.ts';

/**
 * The data files of a table of `lake`, as local paths: every Parquet file below its location, or copies of those in a bucket. Right for a
 * table that was loaded once into a fresh warehouse, where no file is left over.
 */
export async function tableFiles(cluster: Cluster, namespace: string, table: string): Promise<readonly string[]> {
  const path = `/v1/lake/namespaces/${namespace}/tables/${table}`;
  const { status, body } = await cluster.catalog('GET', path);
  const location = (body as { metadata?: { location?: string } }).metadata?.location;
  if (status !== 200 || location === undefined) throw new Error(`${namespace}.${table}: HTTP ${status}`);
  const root = isInBucket(location) ? await copied(cluster, path, location) : fileURLToPath(new URL(location));
  const files: string[] = [];
  for await (const file of glob('**/*.parquet', { cwd: root })) files.push(`${root}/${file}`);
  if (files.length === 0) throw new Error(`${namespace}.${table}: no Parquet files below ${root}`);
  return files.sort();
}

const FILE_BYTES_MAX = 2 ** 30;

/** Copies the Parquet files of a table's location in a bucket into a folder of the cluster's, with the keys that any client gets. */
async function copied(cluster: Cluster, path: string, location: string): Promise<string> {
  const { body } = await cluster.catalog('GET', `${path}/credentials`);
  const [credential] = (body as { 'storage-credentials': { config: Record<string, string> }[] })['storage-credentials'];
  const { config } = must(credential, 'a table in a bucket has a key');
  const storage = openStorage(location, keyOf(config));
  const root = await mkdtemp(join(cluster.dataDir, 'copied-'));
  for await (const page of storage.list(location)) {
    for (const file of page.filter((one) => one.endsWith('.parquet'))) {
      const to = join(root, file.slice(location.length));
      await mkdir(dirname(to), { recursive: true });
      await writeFile(to, await storage.read(file, FILE_BYTES_MAX));
    }
  }
  return root;
}

/** The key in the properties that a client gets. */
function keyOf(config: Readonly<Record<string, string>>): StoreCredential {
  const expiresAtMs = null;
  const token = config['gcs.oauth2.token'];
  if (token !== undefined) return { kind: 'gcs', token, expiresAtMs, endpoint: config['gcs.service.host'] ?? null };
  const sas = config['adls.sas-token'];
  if (sas !== undefined) {
    const [host = ''] = (config['adls.account-host'] ?? '').split('/');
    return { kind: 'adls', sas, expiresAtMs, endpoint: `https://${host}` };
  }
  return {
    kind: 's3',
    accessKeyId: must(config['s3.access-key-id'], 'a key'),
    secretAccessKey: must(config['s3.secret-access-key'], 'a secret'),
    sessionToken: config['s3.session-token'] ?? null,
    expiresAtMs,
    region: must(config['s3.region'], 'a region'),
    endpoint: config['s3.endpoint'] ?? null,
    pathStyle: config['s3.path-style-access'] === 'true',
  };
}
