import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCatalog, type RunningCatalog } from '#catalog/main.ts';
import { parseSecrets } from '#shared/keyring.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { newSecret, writeSecrets } from '#shared/secret-file.ts';
import { keyId } from '#shared/signed-text.ts';
import { must } from '#shared/must.ts';
import { startTestCatalog, TEST_SECRET, type TestCatalog } from '#test/support/catalog.ts';
import { settingsEnv, skein, type CliResult } from '#test/support/cluster.ts';
import { startEtcd, type Etcd } from '#test/support/etcd.ts';
import { statementRunner } from '#test/support/run-statements.ts';

/**
 * `skein admin secrets rotate` in a cluster of two hosts with a catalog each, which have copies of the file of keys. The command runs on a third
 * with a copy of its own.
 */
const RELOAD_MS = 100;

let folder: string;
let etcd: Etcd;
let first: TestCatalog;
let second: RunningCatalog;

const fileOf = (host: string): string => join(folder, host);
const keysOf = (host: string): readonly string[] => parseSecrets(readFileSync(fileOf(host), 'utf8'));
const bring = (...hosts: readonly string[]): void =>
  hosts.forEach((host) => copyFileSync(fileOf('operator'), fileOf(host)));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'skein-hosts-'));
  writeSecrets(fileOf('operator'), [newSecret()]);
  bring('one', 'two');
  etcd = await startEtcd();
  const settings = {
    'cluster.etcd_endpoints': [etcd.endpoint],
    'cluster.reload_interval': RELOAD_MS,
    'webhook.allowed_networks': ['127.0.0.1'],
  };
  first = await startTestCatalog({ ...settings, 'cluster.secrets_key_file': fileOf('one') });
  second = await startCatalog({ ...first.config, 'cluster.secrets_key_file': fileOf('two') }, silentLogger);
  // Their processes do it themselves in a cluster (`shared/membership`).
  for (const [name, { internalAddress }] of Object.entries({ one: first.running, two: second })) {
    await etcd.put(
      `/skein/members/catalog/${name}`,
      JSON.stringify({ kind: 'catalog', id: name, name, address: internalAddress }),
    );
  }
  await statementRunner(first).run('admin', {
    kind: 'create_webhook',
    name: 'stored',
    ifNotExists: false,
    url: 'https://127.0.0.1:9/',
    secret: 'a-key-of-the-receiver-7',
    events: ['nothing'],
  });
});
afterAll(async () => {
  await second?.close();
  await first?.[Symbol.asyncDispose]();
  await etcd?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const rotate = (...flags: readonly string[]): Promise<CliResult> =>
  skein(['admin', 'secrets', 'rotate', ...flags, '--data-dir', join(folder, 'none')], {
    env: settingsEnv({
      'cluster.secret': TEST_SECRET,
      'cluster.etcd_endpoints': etcd.endpoint,
      'cluster.secrets_key_file': fileOf('operator'),
      'cluster.reload_interval': `${RELOAD_MS}ms`,
    }),
  });

/** The id of the key that has encrypted the stored secret. */
async function sealedBy(): Promise<string> {
  const [row] = (await first.sql('select secret_sealed as sealed from catalog.webhook')) as { sealed: string }[];
  return must(row, 'a webhook').sealed.split('.')[0] ?? '';
}

test('without --step it says what to do, and changes nothing', async () => {
  const before = keysOf('operator');
  const { code, stderr } = await rotate();
  expect([code, keysOf('operator')]).toEqual([2, before]);
  expect(stderr).toContain('2 catalogs run');
  expect(stderr).toMatch(/--step add.*\n.*--step use.*\n.*--step seal\n/);
});

test('each step waits for the copies, and none stores what another catalog cannot read', async () => {
  const [old = ''] = keysOf('operator');
  expect(await sealedBy()).toBe(keyId(old));
  expect((await rotate('--step', 'use')).stderr).toContain('--step add comes first');
  expect(await rotate('--step', 'add')).toMatchObject({ code: 0, stderr: '' });
  const [, fresh = ''] = keysOf('operator');
  expect(keysOf('operator')).toEqual([old, fresh]);
  // One of the two has the file.
  bring('one');
  const early = await rotate('--step', 'use');
  expect([early.code, early.stderr]).toEqual([2, expect.stringContaining('does not have the new key')]);
  expect(keysOf('operator')).toEqual([old, fresh]);
  bring('two');
  await settled(() => rotate('--step', 'use'));
  expect(keysOf('operator')).toEqual([fresh, old]);
  bring('one');
  const half = await rotate('--step', 'seal');
  expect([half.code, half.stderr]).toEqual([2, expect.stringContaining('encrypts with another key')]);
  expect(await sealedBy()).toBe(keyId(old));
  bring('two');
  expect((await settled(() => rotate('--step', 'seal'))).stdout).toContain('1 secrets are encrypted with a new key');
  expect(await sealedBy()).toBe(keyId(fresh));
});

test('the next rotation drops the key before the last, when nothing needs it', async () => {
  const [second = '', before = ''] = keysOf('operator');
  await rotate('--step', 'add');
  const [, fresh = ''] = keysOf('operator');
  expect(keysOf('operator')).toEqual([second, fresh, before]);
  bring('one', 'two');
  await settled(() => rotate('--step', 'use'));
  expect(keysOf('operator')).toEqual([fresh, second]);
});

test('another word is no step', async () => {
  expect(await rotate('--step', 'all')).toMatchObject({ code: 2, stderr: expect.stringContaining('add, use, seal') });
});

/** A step until the catalogs have read the files again. */
async function settled(step: () => Promise<CliResult>): Promise<CliResult> {
  for (let tries = 0; ; tries += 1) {
    const result = await step();
    if (result.code === 0) return result;
    if (tries === 20) throw new Error(result.stderr);
  }
}
