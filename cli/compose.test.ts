import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '#shared/config/load-config.ts';
import { must } from '#shared/must.ts';
import { COMMANDS } from './commands.ts';

const ROOT = new URL('..', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, ROOT), 'utf8');

type Service = {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
};
const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);

/** `${NAME:-default}` is its default, `${NAME:?why}` a value. */
const substituted = (value: string | number): string =>
  String(value).replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, text: string) =>
    kind === '-' ? text : `value-of-${name}`,
  );

test('it is the cluster of the design', () => {
  expect(services.map(([name]) => name).join(' ')).toBe('postgres etcd catalog coordinator worker-1 worker-2 worker-3');
});

test.each(ours)('%s runs a command that exists, with settings that are valid', (name, service) => {
  const [command] = must(service.command, 'a command');
  expect(COMMANDS.map((known) => known.name)).toContain(command);
  const environment = Object.fromEntries(
    Object.entries(service.environment ?? {}).map(([key, value]) => [key, substituted(value)]),
  );
  const { config } = loadConfig({ environment, workingDir: '/nonexistent' });
  expect(config.internal_host).toBe('0.0.0.0');
  expect(config['cluster.secret']).not.toBe('');
  expect(config['cluster.etcd_endpoints']).toEqual(['http://etcd:2379']);
  // A worker never sees the database.
  expect(config['database.url'] === '').toBe(command === 'worker');
  if (command === 'worker') expect([config['worker.name'], config['cluster.advertise_host']]).toEqual([name, name]);
});

test('what a service names exists: other services, volumes, ports of the health checks', () => {
  for (const [, { depends_on = {}, volumes = [], healthcheck }] of services) {
    for (const other of Object.keys(depends_on)) expect(compose.services).toHaveProperty([other]);
    for (const volume of volumes) expect(compose.volumes).toHaveProperty([volume.split(':')[0] ?? '']);
    expect(healthcheck?.test[0]).toBe('CMD');
  }
  const ports = Object.fromEntries(ours.map(([name, { environment = {} }]) => [name, Object.values(environment)]));
  for (const [name, { healthcheck }] of ours) {
    const port = /127\.0\.0\.1:(\d+)/.exec(must(healthcheck, 'a health check').test.join(' '))?.[1];
    expect(ports[name]).toContain(Number(port));
  }
});

test('the image holds every folder that its commands load, and runs as no root', () => {
  const dockerfile = read('Dockerfile');
  for (const [, source] of dockerfile.matchAll(/^COPY (?:package\S+ )*(\S+) /gm)) {
    expect(existsSync(fileURLToPath(new URL(source ?? '', ROOT)))).toBe(true);
  }
  for (const folder of ['proto', 'shared', 'catalog', 'coordinator', 'worker', 'cli']) {
    expect(dockerfile).toContain(`COPY ${folder} ./${folder}\n`);
  }
  expect(dockerfile).toMatch(/^USER node$/m);
});
