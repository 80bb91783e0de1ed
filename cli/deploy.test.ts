import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadConfig } from '#shared/config/load-config.ts';
import { must } from '#shared/must.ts';
import { COMMANDS } from './commands.ts';
import { requireSharedKeys, requireSharedWarehouse } from './service.ts';

const read = (name: string): string => readFileSync(new URL(`../deploy/systemd/${name}`, import.meta.url), 'utf8');

/** The values of a unit or of a file of variables; `Environment` and `EnvironmentFile` come several times. */
function valuesOf(text: string): ReadonlyMap<string, readonly string[]> {
  const lines = text.split('\n').flatMap((line) => {
    const [, key, value] = /^([A-Za-z_]+)=(.*)$/.exec(line) ?? [];
    return key === undefined || value === undefined ? [] : [{ key, value }];
  });
  return new Map([...Map.groupBy(lines, ({ key }) => key)].map(([key, all]) => [key, all.map(({ value }) => value)]));
}

const environmentOf = (...files: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    files.flatMap((file) =>
      [...valuesOf(read(file))].map(([key, [value = '']]) => [key, value.replace(/^"(.*)"$/, '$1')]),
    ),
  );

test.each(['catalog', 'coordinator', 'worker'])(
  'the unit of the %s runs a command, with settings that are valid',
  (kind) => {
    const unit = valuesOf(read(`skein-${kind}.service`));
    expect(unit.get('ExecStart')).toEqual([`/usr/bin/env skein ${kind}`]);
    expect(COMMANDS.map(({ name }) => name)).toContain(kind);
    expect(unit.get('EnvironmentFile')).toEqual(['/etc/skein/cluster.env', `/etc/skein/${kind}.env`]);
    const { config } = loadConfig({
      environment: environmentOf('cluster.env', `${kind}.env`),
      workingDir: '/nonexistent',
    });
    expect([config.host, config.internal_host]).toEqual(['0.0.0.0', '0.0.0.0']);
    expect(config['cluster.tls_cert']).toBe(`/etc/skein/${kind}/cert.pem`);
    // A release beside another: processes go on with theirs.
    expect(unit.get('Environment')).toContainEqual(expect.stringMatching(/^PATH=\/opt\/skein\/bin:/));
    expect([unit.get('Restart'), unit.get('LimitCORE')]).toEqual([['always'], ['0']]);
    // A worker never sees the database.
    expect(config['database.url'] === '').toBe(kind === 'worker');
    const stopMs = Number(must(unit.get('TimeoutStopSec')?.[0], 'a time')) * 1_000;
    expect(stopMs).toBeGreaterThan(kind === 'worker' ? config['worker.drain_timeout'] : 60_000);
    expect(unit.get('KillMode')).toEqual(['mixed']);
  },
);

test('several catalogs share the warehouse and the key of stored secrets, and operators have a certificate of their own', () => {
  const load = (...files: readonly string[]) =>
    loadConfig({ environment: environmentOf(...files), workingDir: '/' }).config;
  const catalog = load('cluster.env', 'catalog.env');
  expect(catalog['catalog.internal_url']).toHaveLength(2);
  expect(() => requireSharedWarehouse(catalog)).not.toThrow();
  expect(() => requireSharedKeys(catalog)).not.toThrow();
  // No other service has it.
  for (const kind of ['coordinator', 'worker', 'operator'])
    expect(load('cluster.env', `${kind}.env`)['cluster.secrets_key_file']).toBe('');
  expect(load('cluster.env', 'operator.env')['cluster.tls_cert']).toBe('/etc/skein/operator/cert.pem');
});

test('etcd serves clients and its own members with certificates alone', () => {
  const values = environmentOf('etcd.env');
  expect(values).toMatchObject({ ETCD_CLIENT_CERT_AUTH: 'true', ETCD_PEER_CLIENT_CERT_AUTH: 'true' });
  expect(Object.values(values).filter((value) => value.includes('http://'))).toEqual([]);
  expect(valuesOf(read('skein-etcd.service')).get('EnvironmentFile')).toEqual(['/etc/skein/etcd.env']);
});

test('etcd has an account of its own, which no service that runs statements has', () => {
  const accountOf = (unit: string): unknown => valuesOf(read(`skein-${unit}.service`)).get('User');
  expect(accountOf('etcd')).toEqual(['skein-etcd']);
  for (const unit of ['catalog', 'coordinator', 'worker']) expect(accountOf(unit)).toEqual(['skein']);
});

test('a shell reads the variables as systemd does', () => {
  for (const file of ['cluster.env', 'catalog.env', 'coordinator.env', 'worker.env', 'operator.env']) {
    const path = fileURLToPath(new URL(`../deploy/systemd/${file}`, import.meta.url));
    const { stdout } = spawnSync('env', ['-i', 'sh', '-c', `set -a; . ${path}; env`], { encoding: 'utf8' });
    const found = Object.fromEntries(
      stdout.split('\n').map((line) => [line.split('=')[0], line.slice(line.indexOf('=') + 1)]),
    );
    expect(found, file).toMatchObject(environmentOf(file));
  }
});
