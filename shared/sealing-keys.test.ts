import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Config } from '#shared/config/config-schema.ts';
import { loadConfig } from '#shared/config/load-config.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { openSealingKeys, sealingKeyFile } from './sealing-keys.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'skein-keys-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const configOf = (keys?: Pick<Config, 'cluster.secrets_key_file'>): Config => ({
  ...loadConfig({ environment: {}, workingDir: folder }).config,
  ...keys,
});

test('the first start makes the file, for this account alone, and later ones read it', () => {
  const config = configOf();
  using first = openSealingKeys(config, silentLogger);
  using again = openSealingKeys(config, silentLogger);
  expect(again.open(first.seal('secret', 'catalog 1'), 'catalog 1')).toBe('secret');
  expect(statSync(sealingKeyFile(config)).mode & 0o777).toBe(0o600);
});

test('a secret opens for its owner alone, and not without its key', () => {
  const path = join(folder, 'keys');
  writeFileSync(path, 'first-key\n');
  using keys = openSealingKeys(configOf({ 'cluster.secrets_key_file': path }), silentLogger);
  const sealed = keys.seal('secret', 'catalog 1');
  const unreadable = expect.objectContaining({ code: 'SECRET_UNREADABLE' }) as Error;
  expect(() => keys.open(sealed, 'catalog 2')).toThrow(unreadable);
  writeFileSync(path, 'second-key\nfirst-key\n');
  using rotated = openSealingKeys(configOf({ 'cluster.secrets_key_file': path }), silentLogger);
  expect(rotated.open(sealed, 'catalog 1')).toBe('secret');
  expect([keys.isCurrent(sealed), rotated.isCurrent(sealed)]).toEqual([true, false]);
  writeFileSync(path, 'second-key\n');
  using without = openSealingKeys(configOf({ 'cluster.secrets_key_file': path }), silentLogger);
  expect(() => without.open(sealed, 'catalog 1')).toThrow(unreadable);
  expect(readFileSync(path, 'utf8')).not.toContain('secret\n');
});

test('a file that the configuration names is not made', () => {
  const config = configOf({ 'cluster.secrets_key_file': join(folder, 'absent') });
  expect(() => openSealingKeys(config, silentLogger)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIGURATION' }) as Error,
  );
});
