import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { openKeyring, parseSecrets } from './keyring.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skein-keyring-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (settings: Parameters<typeof defaultConfig>[0]) =>
  openKeyring(defaultConfig({ 'cluster.reload_interval': 10, ...settings }), silentLogger);

test('a file of secrets is followed: the first line is used, all are accepted', async () => {
  const path = join(folder, 'secret');
  writeFileSync(path, 'one\n');
  using ring = open({ 'cluster.secret_file': path });
  expect([ring.current, ring.accepted]).toEqual(['one', ['one']]);
  writeFileSync(path, 'two\n\n one \n');
  await expect.poll(() => ring.accepted).toEqual(['two', 'one']);
  expect(ring.current).toBe('two');
});

test('a file that is empty or away for a moment changes nothing', async () => {
  const path = join(folder, 'secret');
  writeFileSync(path, 'one\n');
  using ring = open({ 'cluster.secret_file': path });
  writeFileSync(path, '');
  await new Promise((resolve) => setTimeout(resolve, 50));
  rmSync(path);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(ring.current).toBe('one');
  writeFileSync(path, 'two\n');
  await expect.poll(() => ring.current).toBe('two');
});

test('without a secret, or a file that holds one, nothing starts', () => {
  expect(() => open({})).toThrow('cluster.secret is not set');
  expect(() => open({ 'cluster.secret_file': join(folder, 'absent') })).toThrow(/cannot read .*absent: ENOENT/);
  for (const wrong of ['', '\n \n', 'two words', 'käse', 'x\n'.repeat(9)]) expect(() => parseSecrets(wrong)).toThrow();
});
