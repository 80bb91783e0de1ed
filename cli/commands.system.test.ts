import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SCOPES } from '#shared/authorization/token-claims.ts';
import { projectRoot, skein, startCluster, type StartedCluster } from '#test/support/cluster.ts';
import { startEtcd } from '#test/support/etcd.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

const EXAMPLE = join(projectRoot, 'workload.example.yaml');
/** The coordinator looks at its file several times a second; a run of `status` takes about one. */
const WITHIN = { timeout: patience(15_000) };
let folder: string;
/** The workload file, which `up` alone is told of. */
let workload: string;
let cluster: StartedCluster;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-commands-'));
  workload = join(folder, 'groups.yaml');
  await copyFile(EXAMPLE, workload);
  const args = ['--worker-memory', '512MB', '--worker-cores', '1', '--set', `coordinator.workload_file=${workload}`];
  cluster = await startCluster({ args });
});
afterAll(async () => {
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

test('token: one line; the admin, every scope and an hour unless asked otherwise', async () => {
  const plain = await cluster.cli(['token']);
  expect(plain).toMatchObject({ code: 0, stderr: '' });
  expect(plain.stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  const claims = claimsOf(plain.stdout);
  expect(claims).toMatchObject({ tenant: 'default', preferred_username: 'admin', auth_method: 'operator' });
  expect(String(claims['scope']).split(' ').toSorted()).toEqual(Object.keys(SCOPES).toSorted());
  expect(Number(claims['exp']) - Number(claims['iat'])).toBe(3_600);

  const narrow = claimsOf(await cluster.cliOk(['token', '--ttl', '90s', '--scope', 'table:read namespace:read']));
  expect(narrow['scope']).toBe('table:read namespace:read');
  expect(Number(narrow['exp']) - Number(narrow['iat'])).toBe(90);
});

test.each([
  [['token', '--ttl', 'soon'], 2, '--ttl: expected a duration'],
  [['token', '--ttl', '0s'], 2, '--ttl: expected more than 0'],
  [['token', '--user', 'nobody'], 1, 'nobody'],
  [['token', '--scope', 'table:fly'], 1, 'table:fly'],
  [['status', '--data-dir', '/nonexistent'], 3, 'no cluster runs in /nonexistent'],
  [['token', '--data-dir', '/nonexistent'], 3, 'no cluster runs in /nonexistent'],
  [['down', '--data-dir', '/nonexistent'], 3, 'no cluster runs in /nonexistent'],
  [['load', 'tpch', '--scale', '0.01', '--data-dir', '/nonexistent'], 3, 'no cluster runs in /nonexistent'],
])('skein %j: exit %i', async (args, code, message) => {
  const result = args.includes('--data-dir') ? await skein(args) : await cluster.cli(args);
  expect(result.code).toBe(code);
  expect(result.stderr).toContain(message);
  expect(result.stdout).toBe('');
});

test('status: every service with its process and address', async () => {
  const { services } = JSON.parse(await cluster.cliOk(['status', '--json'])) as { services: readonly object[] };
  expect(services).toHaveLength(5);
  expect(services.at(-1)).toEqual({
    kind: 'worker',
    name: 'worker-2',
    pid: expect.any(Number) as number,
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
    state: 'up',
  });
});

test('status: what the coordinator finds wrong with the workload file that it was given', async () => {
  const asked = async (): Promise<unknown> =>
    (JSON.parse(await cluster.cliOk(['status', '--json'])) as { workload_file_problem?: unknown })
      .workload_file_problem;
  expect(await asked()).toBeNull();
  await writeFile(workload, 'resource_groups: 1\n');
  await expect.poll(asked, WITHIN).toContain(`${workload}:1:18: `);
  expect(await cluster.cliOk(['status'])).toContain(
    `\nThe workload file is not valid, and the one before it stays in force: ${workload}:1:18: `,
  );
  await rm(workload);
  await expect.poll(asked, WITHIN).toBe(`${workload} is gone`);
  await copyFile(EXAMPLE, workload);
  await expect.poll(asked, WITHIN).toBeNull();
  expect(await cluster.cliOk(['status'])).not.toContain('workload file');
});

test('config print shows what the running cluster was given', async () => {
  const printed = JSON.parse(await cluster.cliOk(['config', 'print', '--json'])) as Record<string, object>;
  expect(printed['worker.memory_limit']).toEqual({ value: 512_000_000, source: 'flag --worker-memory' });
  expect(printed['worker.cores']).toEqual({ value: 1, source: 'flag --worker-cores' });
  expect(await cluster.cliOk(['config', 'print'])).toMatch(/^worker\.memory_limit +512MB +flag --worker-memory$/m);
});

test('doctor finds nothing wrong with this machine and its cluster', async () => {
  const { ok, checks } = JSON.parse(await cluster.cliOk(['doctor', '--json'])) as {
    ok: boolean;
    checks: readonly { check: string; state: string; message: string }[];
  };
  expect(ok).toBe(true);
  expect(checks.find(({ check }) => check === 'cluster')?.message).toBe('all 5 services are up');
});

test('the operator makes tenants and catalogs', async () => {
  const made = JSON.parse(await cluster.cliOk(['admin', 'tenant', 'create', 'acme', '--user', 'amy'])) as object;
  expect(made).toEqual({ tenant: 'acme', user: 'amy', password: expect.stringMatching(/^[\w-]{24}$/) as string });
  expect((await cluster.cliOk(['admin', 'tenant', 'list'])).split('\n')).toContain('acme');
  await cluster.cliOk(['admin', 'catalog', 'create', 'ocean', '--tenant', 'acme']);
  const token = await cluster.token({ tenant: 'acme', user: 'amy' });
  expect(await cluster.sql('SHOW CATALOGS', { token })).toEqual([['ocean']]);
  expect((await cluster.cli(['admin', 'tenant', 'create', 'acme'])).code).toBe(1);
  expect((await cluster.cli(['admin', 'tenant', 'create'])).code).toBe(2);
});

test('the operator lists, alters and drops catalogs, and drops tenants', async () => {
  const admin = (...args: string[]): Promise<string> => cluster.cliOk(['admin', ...args]);
  const refusal = async (expectedCode: number, ...args: string[]): Promise<string> => {
    const { code, stderr } = await cluster.cli(['admin', ...args]);
    expect(code, args.join(' ')).toBe(expectedCode);
    return stderr;
  };
  const listed = async (): Promise<object[]> =>
    (JSON.parse(await admin('catalog', 'list', '--tenant', 'harbour', '--json')) as { catalogs: object[] }).catalogs;
  await admin('tenant', 'create', 'harbour', '--user', 'hal');
  await admin(
    'catalog',
    'create',
    'quay',
    '--tenant',
    'harbour',
    '--allow-root',
    '/tmp/quay-a',
    '--undrop-window',
    '7d',
  );
  const quay = {
    catalog: 'quay',
    tenant: 'harbour',
    location: expect.stringMatching(/\/quay-[0-9a-f-]{36}$/) as string,
  };
  expect(await listed()).toEqual([{ ...quay, allowed_roots: ['file:///tmp/quay-a'], undrop_window_seconds: 604_800 }]);
  const roots = ['--allow-root', '/tmp/quay-b/', '--disallow-root', 'file:///tmp/quay-a'];
  await admin('catalog', 'alter', 'quay', ...roots);
  expect(await listed()).toEqual([{ ...quay, allowed_roots: ['file:///tmp/quay-b'], undrop_window_seconds: 604_800 }]);
  await admin('catalog', 'alter', 'quay', '--undrop-window', '0s');
  expect(await listed()).toMatchObject([{ undrop_window_seconds: 0, allowed_roots: ['file:///tmp/quay-b'] }]);
  expect(await admin('catalog', 'list')).toMatch(/^quay\tharbour\tfile:\/\/\S+\t0s\tfile:\/\/\/tmp\/quay-b$/m);
  expect(await refusal(2, 'catalog', 'alter', 'quay', '--undrop-window', 'soon')).toContain('--undrop-window');
  expect(await refusal(1, 'catalog', 'alter', 'none')).toContain('none');
  expect(await refusal(1, 'tenant', 'drop', 'harbour')).toContain('still has catalogs');
  await admin('catalog', 'drop', 'quay');
  expect(await refusal(1, 'catalog', 'drop', 'quay')).toContain('quay');
  expect(await refusal(1, 'catalog', 'drop', 'lake')).toContain('not empty');
  await admin('tenant', 'drop', 'harbour');
  expect((await admin('tenant', 'list')).split('\n')).not.toContain('harbour');
});

test('DATABASE_URL and ETCD_ENDPOINTS: no Postgres of ours, workers found in etcd', async () => {
  await using etcd = await startEtcd();
  await using other = await startOwnCluster({ env: { ETCD_ENDPOINTS: etcd.endpoint } });
  const { services } = JSON.parse(await other.cliOk(['status', '--json'])) as { services: readonly { kind: string }[] };
  expect(services.map(({ kind }) => kind)).toEqual(['catalog', 'coordinator', 'worker', 'worker']);
  expect(await other.sql('SELECT 1')).toEqual([[1]]);
});
