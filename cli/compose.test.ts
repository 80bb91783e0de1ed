import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { route } from '#coordinator/workload/route.ts';
import { WorkloadFile } from '#coordinator/workload/workload-file.ts';
import { defaultConfig, type Config } from '#shared/config/config-schema.ts';
import { parseDuration } from '#shared/config/parse-setting.ts';
import { loadConfig } from '#shared/config/load-config.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { must } from '#shared/must.ts';
import { COMMANDS } from './commands.ts';
import { requireSharedKeys, requireSharedWarehouse } from './service.ts';

const ROOT = new URL('..', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, ROOT), 'utf8');

type Service = {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly profiles?: readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
};
const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const services = Object.entries(compose.services);
/** Services of ours that stay up; the others do one thing and end. */
const ours = services.filter(([, { build, healthcheck }]) => build !== undefined && healthcheck !== undefined);
const ROLES = ['catalog', 'coordinator', 'worker', 'operator', 'etcd'];

const STATEMENT = { principal: 'p', username: 'ann', source: null, resourcePool: '', queryType: 'select' };

type Variables = Readonly<Record<string, string>>;

/** The variables of the file for two catalogs, two coordinators and three etcds. */
const HA: Variables = Object.fromEntries(
  read('deploy/compose/ha.env')
    .split('\n')
    .flatMap((line) => {
      const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value]];
    }),
);

/** `${NAME:-default}` is the variable or its default, `${NAME:?why}` a value. */
const substituted = (value: string | number, variables: Variables): string =>
  String(value).replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, text: string) =>
    kind === '-' ? (variables[name] ?? text) : `value-of-${name}`,
  );

/** The configuration that a service starts with. */
function configOf({ environment = {} }: Service, variables: Variables = {}): Config {
  const texts = Object.fromEntries(
    Object.entries(environment).map(([key, value]) => [key, substituted(value, variables)]),
  );
  return loadConfig({ environment: texts, workingDir: '/nonexistent' }).config;
}

test('it has the services of the design', () => {
  expect(services.map(([name]) => name).join(' ')).toBe(
    'ca postgres etcd etcd-2 etcd-3 etcd-auth operator catalog catalog-2 coordinator coordinator-2 worker-1 worker-2 worker-3',
  );
  expect(ours.map(([name]) => name).join(' ')).toBe(
    'catalog catalog-2 coordinator coordinator-2 worker-1 worker-2 worker-3',
  );
  // One command starts everything except the operator's service, which runs on demand, and those of the profile.
  expect(services.flatMap(([name, { profiles }]) => (profiles?.includes('operator') === true ? [name] : []))).toEqual([
    'operator',
  ]);
  expect(services.flatMap(([name, { profiles }]) => (profiles?.includes('ha') === true ? [name] : []))).toEqual([
    'etcd-2',
    'etcd-3',
    'catalog-2',
    'coordinator-2',
  ]);
});

test('with the profile each service knows both catalogs and all etcds, which know each other', () => {
  expect(HA['COMPOSE_PROFILES']).toBe('ha');
  const etcds = services.filter(([, { image }]) => image.includes('etcd')).map(([name]) => name);
  for (const [, service] of ours) {
    const config = configOf(service, HA);
    expect(config['cluster.etcd_endpoints']).toEqual(etcds.map((name) => `https://${name}:2379`));
    expect(config['catalog.internal_url']).toEqual(['catalog:8191', 'catalog-2:8191']);
    if (service.command?.[0] !== 'catalog') continue;
    expect(() => requireSharedWarehouse(config)).not.toThrow();
    expect(() => requireSharedKeys(config)).not.toThrow();
    expect(service.volumes).toContain(`${config['cluster.secrets_key_file'].split('/')[2]}:/tls/secrets-key:ro`);
  }
  for (const name of etcds) {
    const { environment = {} } = must(compose.services[name], name);
    const peer = substituted(must(environment['ETCD_INITIAL_ADVERTISE_PEER_URLS'], 'an address'), HA);
    const cluster = substituted(must(environment['ETCD_INITIAL_CLUSTER'], 'the members'), HA);
    expect(cluster.split(',')).toContain(`${name}=${peer}`);
    if (name !== 'etcd') expect(compose.services['ca']?.command).toContain(`--etcd-host=${name}`);
  }
});

test('the key of stored secrets lies in a volume that catalogs alone have, with the profile and without it', () => {
  for (const [name, service] of ours) {
    const volumes = (service.volumes ?? []).map((volume) => volume.split(':')[0]);
    const isCatalog = service.command?.[0] === 'catalog';
    expect([name, volumes.includes('secrets-key')]).toEqual([name, isCatalog || name === 'ca']);
    if (!isCatalog) continue;
    for (const environment of [{}, HA]) {
      expect(configOf(service, environment)['cluster.secrets_key_file']).toBe('/tls/secrets-key/secrets-key');
    }
  }
});

test('each service has the time to drain, and a worker spills to a volume of its own', () => {
  for (const [name, service] of ours) {
    const config = configOf(service);
    const graceMs = parseDuration(must(service.stop_grace_period, 'a time'));
    if (name.startsWith('worker')) {
      expect(graceMs).toBeGreaterThan(config['worker.drain_timeout']);
      expect(service.volumes).toContain(`spill-${name.at(-1)}:/spill`);
      expect(config['worker.spill_dir']).toMatch(/^\/spill\//);
    }
    if (name.startsWith('coordinator')) expect(graceMs).toBeGreaterThan(config['coordinator.drain_timeout'] + 10_000);
  }
  const folders = ['coordinator', 'coordinator-2'].map((name) => configOf(must(compose.services[name], name)).data_dir);
  expect(new Set(folders).size).toBe(2);
});

test.each(ours)('%s runs a command that exists, with settings that are valid', (name, service) => {
  const [command] = must(service.command, 'a command');
  const config = configOf(service);
  expect(config.internal_host).toBe('0.0.0.0');
  // A worker never sees the database.
  expect(config['database.url'] === '').toBe(command === 'worker');
  if (command === 'worker') expect([config['worker.name'], config['cluster.advertise_host']]).toEqual([name, name]);
});

test('the coordinator has the example’s workload, which keeps tenants apart, unless its user names another', async () => {
  const config = configOf(must(compose.services['coordinator'], 'coordinator'));
  const path = config['coordinator.workload_file'];
  // The image has in /app what the Dockerfile copies from the project's folder.
  const [, name] = must(/^\/app\/([\w.-]+)$/.exec(path), `a file of the image, not ${path}`);
  expect(read('Dockerfile')).toContain(`\nWORKDIR /app\n`);
  expect(read('Dockerfile')).toContain(`\nCOPY ${name} ./\n`);
  const local = defaultConfig({ 'coordinator.workload_file': fileURLToPath(new URL(must(name, 'a name'), ROOT)) });
  await using file = await WorkloadFile.open(local, silentLogger);
  const paths = ['acme', 'rival'].map((tenant) =>
    route(file.current.rules, { ...STATEMENT, tenant })
      .path.map(({ name: group }) => group)
      .join('.'),
  );
  expect(paths).toEqual(['root.acme.ann', 'root.rival.ann']);
});

test('every command of a service of ours exists', () => {
  const commands = services.flatMap(([, { build, command = [] }]) =>
    build === undefined ? [] : [command.slice(0, 2)],
  );
  for (const command of commands.filter((words) => words.length > 0)) {
    expect(COMMANDS.map((known) => known.name)).toContain(command.filter((word) => !word.startsWith('-')).join(' '));
  }
});

test('between containers everything internal is mutual TLS, with the certificate of the service’s role and no other', () => {
  for (const [name, service] of [...ours, ...services.filter(([one]) => ['operator', 'etcd-auth'].includes(one))]) {
    const config = configOf(service);
    const role = ROLES.find((one) => name.startsWith(one) && one !== 'etcd') ?? 'operator';
    const files = ['cluster.tls_ca', 'cluster.tls_cert', 'cluster.tls_key'] as const;
    expect(files.map((key) => config[key])).toEqual(
      ['ca.pem', 'cert.pem', 'key.pem'].map((file) => `/tls/${role}/${file}`),
    );
    expect(config['cluster.etcd_endpoints']).toEqual(['https://etcd:2379']);
    expect(config['cluster.secret_file']).toBe('/tls/secret/cluster-secret');
    const mounts = (service.volumes ?? []).filter((volume) => volume.includes(':/tls/'));
    const secret = name === 'operator' ? 'secret:/tls/secret' : 'secret:/tls/secret:ro';
    const doors = role === 'coordinator' ? ['tls-doors:/tls/doors:ro'] : [];
    // Keys of stored secrets are for catalogs alone.
    const keys = role === 'catalog' ? ['secrets-key:/tls/secrets-key:ro'] : [];
    expect(mounts.toSorted()).toEqual([secret, `tls-${role}:/tls/${role}:ro`, ...doors, ...keys].toSorted());
  }
});

test('the coordinator serves clients over TLS, with a certificate under its name there', () => {
  for (const name of ['coordinator', 'coordinator-2']) {
    const coordinator = must(compose.services[name], name);
    const config = configOf(coordinator);
    expect([config['coordinator.tls_cert'], config['coordinator.tls_key']]).toEqual([
      '/tls/doors/server.pem',
      '/tls/doors/server.key',
    ]);
    expect(compose.services['ca']?.command).toContain(`--door-host=${name}`);
    expect(must(coordinator.healthcheck, 'a health check').test.join(' ')).toContain('https://127.0.0.1:8080/health');
  }
});

test('etcd serves TLS alone and asks for certificates; whoever needs it waits until it also asks who its clients are', () => {
  for (const name of ['etcd', 'etcd-2', 'etcd-3']) {
    const etcd = must(compose.services[name], name);
    expect(etcd.environment).toMatchObject({ ETCD_CLIENT_CERT_AUTH: 'true', ETCD_PEER_CLIENT_CERT_AUTH: 'true' });
    expect(JSON.stringify(etcd)).not.toContain('http://');
  }
  for (const [name, { depends_on: after = {} }] of services) {
    if (/^(coordinator(-2)?|worker-.)$/.test(name)) {
      expect(after['etcd-auth']?.condition).toBe('service_completed_successfully');
    }
    if (/^(etcd|catalog)(-\d)?$/.test(name)) expect(after['ca']?.condition).toBe('service_completed_successfully');
  }
});

test('the authority’s key is in a volume that only its own service sees, and the image has a folder for every volume', () => {
  const holders = services.filter(([, { volumes = [] }]) => volumes.some((volume) => volume.startsWith('tls-ca:')));
  expect(holders.map(([name]) => name)).toEqual(['ca']);
  const folders = /for folder in ([^;]+);/.exec(read('Dockerfile'))?.[1]?.split(' ');
  const mounted = must(compose.services['ca'], 'ca').volumes?.map((volume) => volume.split('/').at(-1));
  expect(mounted?.toSorted()).toEqual(folders?.toSorted());
  expect(mounted?.toSorted()).toEqual(['ca', 'secret', 'secrets-key', 'doors', ...ROLES].toSorted());
});

test('services, volumes and health check ports that a service names exist', () => {
  for (const [, { depends_on = {}, volumes = [], healthcheck }] of services) {
    for (const other of Object.keys(depends_on)) expect(compose.services).toHaveProperty([other]);
    for (const volume of volumes) expect(compose.volumes).toHaveProperty([volume.split(':')[0] ?? '']);
    if (healthcheck !== undefined) expect(healthcheck.test[0]).toBe('CMD');
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
