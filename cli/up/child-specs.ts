import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { machineMemory } from '#shared/config/machine-memory.ts';
import type { Config, ConfigKey } from '#shared/config/config-schema.ts';
import { CONFIG } from '#shared/config/config-schema.ts';
import { childEnvironment, settingText } from '#shared/config/load-config.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { consoleBase, consoleRedirect, CONSOLE_CLIENT } from '#shared/config/sign-in-redirect.ts';
import { redactUrls } from '#shared/config/redact.ts';
import { hasSecret } from '#shared/keyring.ts';
import { must } from '#shared/must.ts';
import type { ServicesFile } from '../cluster-file.ts';
import { temporaryFolders } from '#worker/temporary-folders.ts';
import { NODE_FLAGS, serviceEnvironment, serviceFlags } from '../node-flags.js';
import { divideMemory } from './divide-memory.ts';
import { POSTGRES_DATABASE, POSTGRES_USER } from './postgres-process.ts';
import { catalogUrl, queryUrl, type ClusterPorts } from './ports.ts';
import { ensureSecret, secretPath } from '../secrets.ts';
import type { ChildSpec } from './supervised-child.ts';

/** The children of the launcher: with which configuration, command and environment each starts. */

const SKEIN = fileURLToPath(new URL('../skein.js', import.meta.url));
const POSTGRES_PROCESS = fileURLToPath(new URL('postgres-process.ts', import.meta.url));

/** The configuration passed to every child, on which all of them must agree. */
export function clusterConfig({ config, sources }: LoadedConfig, ports: ClusterPorts): LoadedConfig {
  const password = ensureSecret(config.data_dir, 'postgres-password');
  const embedded = `postgres://${POSTGRES_USER}:${password}@127.0.0.1:${ports.postgres}/${POSTGRES_DATABASE}`;
  const workers = ports.workers.map((port) => `${config.internal_host}:${port}`);
  const memory = divideMemory({ config, sources }, machineMemory());
  const workerBytes = memory['worker.memory_limit'] ?? config['worker.memory_limit'];
  return {
    sources,
    config: {
      ...config,
      'cluster.secret_file': hasSecret(config) ? config['cluster.secret_file'] : ownSecretFile(config.data_dir),
      'cluster.workers': workers,
      'database.url': config['database.url'] || embedded,
      'catalog.port': ports.catalog,
      'catalog.internal_port': ports.catalogInternal,
      'catalog.internal_url': [`${config.internal_host}:${ports.catalogInternal}`],
      'catalog.url': catalogUrl(config, ports.catalog),
      'catalog.sign_in_redirects': signInRedirects(config, queryUrl(config, ports.http)),
      'coordinator.http_port': ports.http,
      'coordinator.flight_port': ports.flight,
      'coordinator.postgres_port': ports.postgresWire,
      ...memory,
      'worker.query_memory_limit': Math.min(config['worker.query_memory_limit'], workerBytes),
    },
  };
}

/** The clients that people may sign in to: those of the configuration, and the console. */
function signInRedirects(config: Config, reached: string): readonly string[] {
  const listed = config['catalog.sign_in_redirects'];
  const own = `${CONSOLE_CLIENT}=${consoleRedirect(consoleBase(config['coordinator.url'], reached))}`;
  return config['coordinator.console'] === 'off' || listed.includes(own) ? listed : [...listed, own];
}

/** The file of the cluster's secret. A file is used, because services can reread it after a change, unlike their environment. */
function ownSecretFile(dataDir: string): string {
  ensureSecret(dataDir, 'cluster-secret');
  return secretPath(dataDir, 'cluster-secret');
}
export const postgresFolder = (config: Config): string => join(config.data_dir, 'postgres');

export function postgresSpec({ config, sources }: LoadedConfig, ports: ClusterPorts): ChildSpec {
  const passwordFile = secretPath(config.data_dir, 'postgres-password');
  const bare: Config = {
    ...config,
    'database.url': '',
    'admin.password': '',
    'cluster.secret': '',
    'metrics.token': '',
  };
  return {
    kind: 'postgres',
    name: 'postgres',
    url: `postgres://127.0.0.1:${ports.postgres}/${POSTGRES_DATABASE}`,
    command: [...NODE_FLAGS, POSTGRES_PROCESS, postgresFolder(config), passwordFile, String(ports.postgres)],
    environment: withoutKeys('postgres', childEnvironment({ config: bare, sources })),
    stop: 'ipc',
    restartPauseMaxMs: config['up.restart_pause_max'],
  };
}

export function serviceSpecs({ config, sources }: LoadedConfig, ports: ClusterPorts): readonly ChildSpec[] {
  const spec = (kind: 'catalog' | 'coordinator' | 'worker', own: Partial<Config>, url: string): ChildSpec => ({
    kind,
    name: own['worker.name'] ?? kind,
    url,
    command: [...serviceFlags(kind), SKEIN, kind],
    environment: withoutKeys(
      kind,
      childEnvironment({ config: { ...config, ...own }, sources }, serviceEnvironment(kind)),
    ),
    // After SIGTERM a coordinator waits for its statements; here all services stop.
    stop: kind === 'coordinator' ? 'SIGINT' : 'SIGTERM',
    restartPauseMaxMs: config['up.restart_pause_max'],
  });
  const withoutPassword: Partial<Config> = { 'admin.password': '' };
  const workers = ports.workers.map((port, i) => {
    const metricsPort = must(ports.workerMetrics[i], 'a metrics port for every worker');
    const own: Partial<Config> = {
      ...withoutPassword,
      'database.url': '',
      'worker.name': `worker-${i + 1}`,
      'worker.port': port,
      'worker.metrics_port': metricsPort,
      'worker.spill_dir': config['worker.spill_dir'] === '' ? '' : join(config['worker.spill_dir'], `worker-${i + 1}`),
    };
    return {
      ...spec('worker', own, `http://${config.internal_host}:${port}`),
      standbyCommand: [...serviceFlags('worker'), SKEIN, 'worker', '--standby'],
      metricsUrl: `http://${config.internal_host}:${metricsPort}/metrics`,
      temporaryFolders: temporaryFolders({ ...config, ...own }),
    };
  });
  return [
    spec('catalog', {}, catalogUrl(config, ports.catalog)),
    spec('coordinator', withoutPassword, queryUrl(config, ports.http)),
    ...workers,
  ];
}

/** Keys of AWS that the environment holds are the catalog's alone. */
const withoutKeys = (kind: ChildSpec['kind'], environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  kind === 'catalog'
    ? environment
    : Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('AWS_')));

/** The non-default settings without secrets, which `config print` shows for a running cluster. */
export function publicSettings({ config, sources }: LoadedConfig): ServicesFile['settings'] {
  const keys = Object.keys(CONFIG) as ConfigKey[];
  return Object.fromEntries(
    keys
      .filter((key) => sources[key] !== 'default' && !CONFIG[key].secret)
      .map((key) => [key, { text: redactUrls(settingText(config[key])), source: sources[key] }]),
  );
}
