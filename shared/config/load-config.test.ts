import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { childEnvironment, loadConfig, type FlagSetting } from './load-config.ts';
import { readStorageProfiles } from './storage-profiles.ts';
import { SkeinError } from '#shared/error.ts';

let workingDir: string;
beforeEach(() => void (workingDir = mkdtempSync(join(tmpdir(), 'skein-config-'))));
afterEach(() => rmSync(workingDir, { recursive: true, force: true }));

const flag = (key: string, text: string, name = '--set'): FlagSetting => ({ key, text, flag: name });
const file = (text: string, folder = workingDir): void => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'skein.yaml'), text);
};
const load = (environment: Readonly<Record<string, string>> = {}, flags: readonly FlagSetting[] = []) =>
  loadConfig({ workingDir, environment, flags });

/** Returns the message of the INVALID_CONFIGURATION that `work` throws. */
function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(SkeinError);
    expect((error as SkeinError).code).toBe('INVALID_CONFIGURATION');
    return (error as SkeinError).message;
  }
  throw new Error('nothing was refused');
}

test('later layers win: defaults, file, file of the data directory, environment, flags', () => {
  file('worker:\n  cores: 3\nlog_level: warn\nhost: 127.0.0.2\nplanner.processes: 4\n');
  file('host: 127.0.0.3\nworker.port: 7000\nworker: {cores: 4}\n', join(workingDir, 'data'));
  const environment = { SKEIN_DATA_DIR: 'data', SKEIN_WORKER_PORT: '7001', SKEIN_LOG_LEVEL: 'error' };
  const { config, sources } = load(environment, [flag('log_level', 'trace', '--log-level')]);
  expect(config).toMatchObject({
    data_dir: join(workingDir, 'data'),
    host: '127.0.0.3',
    log_level: 'trace',
    'worker.cores': 4,
    'worker.port': 7001,
    'planner.processes': 4,
    'catalog.port': 8181,
  });
  expect(sources).toMatchObject({
    'catalog.port': 'default',
    'planner.processes': `file ${join(workingDir, 'skein.yaml')}`,
    host: `file ${join(workingDir, 'data', 'skein.yaml')}`,
    'worker.port': 'environment SKEIN_WORKER_PORT',
    log_level: 'flag --log-level',
  });
});

test.each(['foo', 'localhost:8080', 'ftp://skein', 'http://['])('%s is no address of a query API', (text) => {
  expect(refusal(() => load({}, [flag('client.query_url', text, '--url')]))).toContain('https://skein.example.com');
});

test('a timeout that is longer than a timer can be is refused', () => {
  const message =
    'coordinator.query_timeout_max (environment SKEIN_COORDINATOR_QUERY_TIMEOUT_MAX) is longer than 2147483647ms';
  expect(refusal(() => load({ SKEIN_COORDINATOR_QUERY_TIMEOUT_MAX: '25d' }))).toContain(message);
  expect(load({ SKEIN_COORDINATOR_QUERY_TIMEOUT_MAX: '24d' }).config['coordinator.query_timeout_max']).toBe(
    2_073_600_000,
  );
});

test('a setting of an earlier release is an error that names its successor, wherever it stands', () => {
  const successor = 'is no longer a setting: set catalog.refresh_token_ttl instead';
  expect(refusal(() => load({ SKEIN_CATALOG_TOKEN_CHAIN_MAX: '1d' }))).toContain(successor);
  file('catalog:\n  token_chain_max: 1d\n');
  expect(refusal(() => load())).toContain(successor);
});

test('an unknown key is an error that names the nearest one, wherever it stands', () => {
  expect(refusal(() => load({ SKEIN_WORKER_COREZ: '1' }))).toContain('did you mean SKEIN_WORKER_CORES?');
  expect(refusal(() => load({}, [flag('worker.memory_limt', '1GB')]))).toContain('did you mean worker.memory_limit?');
  file('coordinator:\n  http_prot: 1\n');
  expect(refusal(() => load())).toContain('unknown setting coordinator.http_prot');
  expect(refusal(() => load())).toContain('did you mean coordinator.http_port?');
  expect(refusal(() => load({ SKEIN_ZZZZZZZZZZZZ: '1' }))).not.toContain('did you mean');
});

test('a value that does not parse names its key and its source', () => {
  expect(refusal(() => load({ SKEIN_WORKER_CORES: 'two' }))).toMatch(
    /worker\.cores \(environment SKEIN_WORKER_CORES\): /,
  );
  expect(refusal(() => load({}, [flag('worker.memory_limit', '5 parsecs', '--worker-memory')]))).toContain(
    'flag --worker-memory',
  );
  file('worker: {cores: [1, 2]}\n');
  expect(refusal(() => load())).toContain('worker.cores');
  file('worker: {cores: 2\n');
  expect(refusal(() => load())).toContain('is not valid YAML');
  file('- a\n');
  expect(refusal(() => load())).toContain('expected keys and values');
});

test('numbers of a file are read as they are written', () => {
  file('worker:\n  memory_limit: 512MB\n  port: 08090\ncluster:\n  workers: [a:1, b:2]\n  lease_ttl: 7s\n');
  const { config } = load();
  expect(config['worker.memory_limit']).toBe(512_000_000);
  expect(config['worker.port']).toBe(8090);
  expect(config['cluster.workers']).toEqual(['a:1', 'b:2']);
  expect(config['cluster.lease_ttl']).toBe(7_000);
  expect(config['coordinator.cu_rate']).toBe('cores');
  file('coordinator: {cu_rate: 2.5}\n');
  expect(load().config['coordinator.cu_rate']).toBe(2.5);
  expect(refusal(() => load({ SKEIN_COORDINATOR_CU_RATE: 'cpus' }))).toContain('coordinator.cu_rate');
});

test('names that other software uses; ours win; an empty variable is none', () => {
  const environment = {
    DATABASE_URL: 'postgres://a/b',
    ETCD_ENDPOINTS: 'http://127.0.0.1:1, http://127.0.0.1:2',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
    SKEIN_HOST: '',
  };
  const { config } = load(environment);
  expect(config['database.url']).toBe('postgres://a/b');
  expect(config['cluster.etcd_endpoints']).toEqual(['http://127.0.0.1:1', 'http://127.0.0.1:2']);
  expect(config['traces.otlp_endpoint']).toBe('http://127.0.0.1:4318');
  expect(config.host).toBe('127.0.0.1');
  expect(load({ ...environment, SKEIN_DATABASE_URL: 'postgres://c/d' }).config['database.url']).toBe('postgres://c/d');
});

test('a named file replaces the one of the working directory, and must exist', () => {
  file('worker.cores: 3\n');
  writeFileSync(join(workingDir, 'other.yaml'), 'worker.port: 9000\n');
  const { config, sources } = load({ SKEIN_CONFIG: 'other.yaml' });
  expect(config['worker.port']).toBe(9000);
  expect(sources['worker.cores']).toBe('default');
  expect(refusal(() => load({ SKEIN_CONFIG: 'absent.yaml' }))).toContain('cannot read');
});

test('the file of a data directory cannot name another one', () => {
  file('data_dir: elsewhere\n', join(workingDir, 'data'));
  expect(refusal(() => load({ SKEIN_DATA_DIR: 'data' }))).toContain('cannot name another');
});

test('values that contradict are refused; a default gives way', () => {
  expect(refusal(() => load({ SKEIN_WORKER_MEMORY_LIMIT: '9000TB' }))).toContain('more than this machine has');
  const small = { SKEIN_WORKER_MEMORY_LIMIT: '128MiB' };
  const { config, sources } = load(small);
  expect(config['worker.query_memory_limit']).toBe(128 * 2 ** 20);
  expect(sources['worker.query_memory_limit']).toBe('computed');
  expect(refusal(() => load({ ...small, SKEIN_WORKER_QUERY_MEMORY_LIMIT: '1GiB' }))).toContain(
    'more than worker.memory_limit',
  );
  expect(refusal(() => load({ SKEIN_LOG_LEVEL: 'loud' }))).toContain('expected one of trace');
  expect(refusal(() => load({ SKEIN_CLUSTER_HEARTBEAT_TIMEOUT: '1ms' }))).toContain('heartbeat_interval');
});

test('trusted proxies are addresses, networks or names of such', () => {
  const proxies = '10.0.0.1, 10.0.0.0/8,::1,fd00::/8,loopback';
  expect(load({ SKEIN_CATALOG_TRUSTED_PROXIES: proxies }).config['catalog.trusted_proxies']).toHaveLength(5);
  for (const text of ['proxy.example', '10.0.0.0/33', '10.0.0.0/0', '10.0.0.0/', '10.0.0', '*', 'fd00::/129']) {
    expect(
      refusal(() => load({ SKEIN_CATALOG_TRUSTED_PROXIES: text })),
      text,
    ).toContain('catalog.trusted_proxies');
  }
});

const TLS = { SKEIN_CLUSTER_TLS_CA: 'ca.pem', SKEIN_CLUSTER_TLS_CERT: 'cert.pem', SKEIN_CLUSTER_TLS_KEY: 'key.pem' };

test('etcd beyond loopback needs https:// and certificates', () => {
  for (const endpoint of ['http://10.0.0.1:2379', '10.0.0.1:2379', 'http://127.0.0.1:1,http://etcd:2379']) {
    expect(
      refusal(() => load({ ...TLS, ETCD_ENDPOINTS: endpoint })),
      endpoint,
    ).toContain('beyond loopback');
  }
  expect(refusal(() => load({ ETCD_ENDPOINTS: 'https://etcd:2379' }))).toContain('needs cluster.tls_*');
  expect(refusal(() => load({ ETCD_ENDPOINTS: 'ftp://etcd:2379' }))).toContain('expected http://host:port');
  expect(refusal(() => load({ ETCD_ENDPOINTS: 'http://u:hunter2@etcd:2379' }))).not.toContain('hunter2');
  for (const endpoint of ['http://[::1]:2379', 'localhost:2379', 'https://etcd:2379']) {
    expect(load({ ...TLS, ETCD_ENDPOINTS: endpoint }).config['cluster.etcd_endpoints']).toEqual([endpoint]);
  }
});

test('the files of a certificate are set together; the secret is a value or a file', () => {
  const { SKEIN_CLUSTER_TLS_KEY: _, ...two } = TLS;
  expect(refusal(() => load(two))).toContain('cluster.tls_key is not');
  expect(refusal(() => load({ SKEIN_CLUSTER_ETCD_TLS_CA: 'ca.pem' }))).toContain('cluster.etcd_tls_cert');
  const both = { SKEIN_CLUSTER_SECRET: 'hunter2', SKEIN_CLUSTER_SECRET_FILE: 'secret' };
  expect(refusal(() => load(both))).toContain('both set');
});

test('a child reads back exactly the configuration of its parent, whatever files say', () => {
  file(
    'worker.cores: 3\ncluster: {workers: [a:1, b:2]}\nhost: 127.0.0.5\ncatalog.storage_profiles: {lake: {storage: "s3://b/p", path_style: true}}\n',
  );
  const flags = [flag('up.workers', '2'), flag('host', '127.0.0.1'), flag('admin.password', 'pä ss=1')];
  const parent = load({ SKEIN_WORKER_MEMORY_LIMIT: '100MiB' }, flags);
  const environment = childEnvironment(parent, { UV_THREADPOOL_SIZE: '32' });
  expect(environment['UV_THREADPOOL_SIZE']).toBe('32');
  expect(loadConfig({ workingDir, environment }).config).toEqual(parent.config);
  expect(readStorageProfiles(parent.config['catalog.storage_profiles']).get('lake')).toEqual({
    storage: 's3://b/p',
    settings: { 'path-style': 'true' },
  });
});

test('a secret that does not parse is not shown', () => {
  expect(refusal(() => load({ SKEIN_CLUSTER_SECRETS: 'hunter2' }))).not.toContain('hunter2');
});

test('one user’s sessions are a tenth of all, unless they are set', () => {
  const sessions = (environment: Readonly<Record<string, string>>) =>
    load(environment).config['coordinator.sessions_per_principal_max'];
  expect(sessions({})).toBe(1_000);
  expect(sessions({ SKEIN_COORDINATOR_SESSIONS_MAX: '95' })).toBe(10);
  const both = { SKEIN_COORDINATOR_SESSIONS_MAX: '95', SKEIN_COORDINATOR_SESSIONS_PER_PRINCIPAL_MAX: '50' };
  expect(sessions(both)).toBe(50);
  expect(refusal(() => load({ ...both, SKEIN_COORDINATOR_SESSIONS_MAX: '49' }))).toContain(
    'is more than coordinator.sessions_max',
  );
});

test('a collector of traces has a URL of HTTP, without a password that would be logged', () => {
  for (const text of ['collector:4317', 'grpc://collector', 'http://u:hunter2@collector:4318']) {
    const message = refusal(() => load({ OTEL_EXPORTER_OTLP_ENDPOINT: text }));
    expect(message).toContain(
      'traces.otlp_endpoint (environment OTEL_EXPORTER_OTLP_ENDPOINT): expected http://host:port',
    );
    expect(message).not.toContain('hunter2');
  }
});

test('metrics.token is long, in one piece, and never quoted', () => {
  for (const text of ['short', 'with a space in it', 'ümlaute-ümlaute-ümlaute']) {
    const message = refusal(() => load({ SKEIN_METRICS_TOKEN: text }));
    expect(message).toContain('metrics.token (environment SKEIN_METRICS_TOKEN): expected at least 16 characters');
    expect(message).not.toContain(text);
  }
  expect(load({ SKEIN_METRICS_TOKEN: 'a'.repeat(16) }).config['metrics.token']).toBe('a'.repeat(16));
});
