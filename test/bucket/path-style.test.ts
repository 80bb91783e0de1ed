import dns from 'node:dns';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { bucketOf } from '#cli/bucket-flags.ts';
import { parseCommand } from '#cli/command.ts';
import { COMMANDS } from '#cli/commands.ts';
import { must } from '#shared/must.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { MINIO_BUILD_MS, startMinio, type Minio } from '#test/support/minio.ts';

/** The bucket in the host of URLs, as AWS has it: MinIO does so, too, for the domain `localhost`. */
let minio: Minio;
let catalog: TestCatalog;
/** Hosts that were looked for; those of buckets are this one. */
const hosts = new Set<string>();

beforeAll(async () => {
  const lookup = dns.lookup as (host: string, options: object, done: () => void) => void;
  vi.spyOn(dns, 'lookup').mockImplementation(((host: string, options: object, done: () => void) => {
    hosts.add(host);
    lookup(host.endsWith('localhost') ? '127.0.0.1' : host, options, done);
  }) as unknown as typeof dns.lookup);
  minio = await startMinio();
  await minio.makeBucket('warehouse');
  catalog = await startTestCatalog();
}, MINIO_BUILD_MS);

afterAll(async () => {
  await catalog?.[Symbol.asyncDispose]();
  await minio?.[Symbol.asyncDispose]();
  vi.restoreAllMocks();
});

beforeEach(() => hosts.clear());

/** The command sends this. */
const bucketFrom = (...flags: readonly string[]): ReturnType<typeof bucketOf> => {
  const command = must(
    COMMANDS.find(({ name }) => name === 'admin catalog create'),
    'the command',
  );
  const endpoint = minio.endpoint.replace('127.0.0.1', 'localhost');
  return bucketOf(parseCommand(command, ['c', '--flavor', 'minio', '--endpoint', endpoint, ...flags]).flags);
};

/** Makes a catalog with these flags and a table in it. @returns the configuration that a client gets with the table */
async function tableIn(name: string, ...flags: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const { accessKeyId, secretAccessKey } = minio.key;
  const key = { access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: '' };
  const bucket = { ...bucketFrom(...flags), key };
  await catalog.call('CreateCatalog', { tenant: 'default', name, location: `s3://warehouse/${name}`, bucket });
  await catalog.rest('POST', `/v1/${name}/namespaces`, { body: { namespace: ['s'] } });
  const answer = await catalog.rest('POST', `/v1/${name}/namespaces/s/tables`, {
    body: { name: 't', schema: SCHEMA },
    headers: { 'X-Iceberg-Access-Delegation': 'vended-credentials' },
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const metadata = await Array.fromAsync(openStorage('s3://warehouse', minio.key).list(`s3://warehouse/${name}`));
  expect(metadata.flat().filter((file) => file.endsWith('.metadata.json'))).toHaveLength(1);
  return answer.body['config'] as Readonly<Record<string, string>>;
}

test('--no-path-style has the bucket in the host, for Skein and for those that get keys', async () => {
  expect((await tableIn('hosted', '--no-path-style'))['s3.path-style-access']).toBe('false');
  expect([...hosts]).toContain('warehouse.localhost');
});

test('the flavor minio has it in the path otherwise', async () => {
  expect((await tableIn('paths'))['s3.path-style-access']).toBe('true');
  expect((await tableIn('said', '--path-style'))['s3.path-style-access']).toBe('true');
  expect([...hosts]).not.toContain('warehouse.localhost');
});

test('both at once contradict each other', () => {
  expect(() => bucketFrom('--path-style', '--no-path-style')).toThrow('contradict');
});
