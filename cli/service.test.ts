import { expect, test } from 'vitest';
import { defaultConfig, type Config } from '#shared/config/config-schema.ts';
import { requireSharedKeys, requireSharedWarehouse } from './service.ts';

const require = (settings: Partial<Config>) => () => requireSharedWarehouse(defaultConfig(settings));

test.each<[name: string, settings: Partial<Config>]>([
  ['several catalogs', { 'catalog.internal_url': ['a:1', 'b:1'] }],
  ['a worker on another machine', { 'cluster.workers': ['http://127.0.0.1:1', 'http://worker-1:8090'] }],
])('with %s the warehouse of the data directory is refused', (_name, settings) => {
  expect(require(settings)).toThrow('bootstrap.warehouse is not set');
  expect(require({ ...settings, 'bootstrap.warehouse': 's3://bucket/tables' })).not.toThrow();
});

test('several catalogs need the same keys for stored secrets', () => {
  const several: Partial<Config> = { 'catalog.internal_url': ['a:1', 'b:1'] };
  expect(() => requireSharedKeys(defaultConfig(several))).toThrow('cluster.secrets_key_file is not set');
  const named = defaultConfig({ ...several, 'cluster.secrets_key_file': '/etc/skein/secrets-key/secrets-key' });
  expect(() => requireSharedKeys(named)).not.toThrow();
  expect(() => requireSharedKeys(defaultConfig({}))).not.toThrow();
});

test('on one machine it is the default', () => {
  expect(require({ 'cluster.workers': ['http://127.0.0.1:1'] })).not.toThrow();
  expect(require({ 'cluster.workers': ['0.0.0.0:1'], internal_host: '0.0.0.0' })).not.toThrow();
});
