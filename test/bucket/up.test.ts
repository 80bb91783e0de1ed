import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStorage } from '#shared/storage/open-storage.ts';
import { startMetadataServer } from '#test/support/metadata-server.ts';
import { MINIO_BUILD_MS, startMinio } from '#test/support/minio.ts';
import { startOwnCluster } from '#test/support/resources.ts';

test(
  'skein up --storage makes the first catalog in a bucket; another one takes the key of the machine',
  async () => {
    await using minio = await startMinio();
    await using machine = await startMetadataServer();
    await minio.makeBucket('warehouse');
    const { accessKeyId, secretAccessKey } = minio.key;
    const folder = await mkdtemp(join(tmpdir(), 'skein-up-key-'));
    const file = join(folder, 'key.json');
    await writeFile(file, JSON.stringify({ access_key_id: accessKeyId, secret_access_key: secretAccessKey }));
    const store = ['--flavor', 'minio', '--endpoint', minio.endpoint, '--credentials', file];
    await using cluster = await startOwnCluster({
      args: ['--storage', 's3://warehouse/first', ...store],
      env: machine.environment,
    });
    await rm(folder, { recursive: true });
    await cluster.sql('CREATE TABLE lake.default.t AS SELECT i FROM range(10) AS r(i)');
    expect(await cluster.sql('SELECT sum(i) FROM lake.default.t')).toEqual([['45']]);
    const found: string[] = [];
    const storage = openStorage('s3://warehouse/first', minio.key);
    for await (const page of storage.list('s3://warehouse/first')) found.push(...page);
    expect(found.some((one) => one.endsWith('.parquet'))).toBe(true);
    expect(cluster.log).not.toContain(secretAccessKey);

    const role = ['--role-arn', 'arn:aws:iam::123456789012:role/skein', '--sts-endpoint', minio.endpoint];
    const aws = ['--flavor', 'aws', '--region', 'us-east-1', '--endpoint', minio.endpoint, '--path-style', ...role];
    await cluster.cliOk(['admin', 'catalog', 'create', 'own', '--storage', 's3://warehouse/own', ...aws]);
    await expect(cluster.sql('CREATE SCHEMA own.s')).resolves.toBeDefined();
    await expect(cluster.sql('CREATE TABLE own.s.t AS SELECT 1 AS i')).rejects.toThrow('58030');
    machine.give({ accessKeyId, secretAccessKey, sessionToken: '', lifeMs: 3_600_000 });
    await cluster.sql('CREATE TABLE own.s.t AS SELECT 1 AS i');
    expect(await cluster.sql('SELECT i FROM own.s.t')).toEqual([[1]]);
    const lines = (await cluster.cliOk(['admin', 'catalog', 'check', 'own'])).trim().split('\n');
    expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([]);
  },
  MINIO_BUILD_MS,
);
