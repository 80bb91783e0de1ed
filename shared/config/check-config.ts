import { isIP } from 'node:net';
import type { Config, ConfigKey } from './config-schema.ts';
import { machineMemory, WORKER_MEMORY_MIN } from './machine-memory.ts';
import type { LoadedConfig } from './loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { isLoopback } from '#shared/config/loopback.ts';
import { unfitAudience } from './outside-audience.ts';
import { parseRedirect } from './sign-in-redirect.ts';

/** The longest time that a timer of Node takes; it fires at once when it is given more. */
const TIMER_MS_MAX = 2 ** 31 - 1;
/** The longest `catalog.cache_lease`: a change waits for it when nobody answers. */
export const CACHE_LEASE_MS_MAX = 10_000;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];
/** A token that is valid after `Bearer` and cannot be guessed. */
const METRICS_TOKEN = /^[\x21-\x7E]{16,1000}$/;

/**
 * Checks the values against each other. A default yields to an explicit setting that leaves no room for it; two contradicting explicit
 * settings are an error.
 * @throws INVALID_CONFIGURATION
 */
export function checkConfig(loaded: LoadedConfig): LoadedConfig {
  const { config, sources } = loaded;
  const require = (holds: boolean, message: string): void => {
    if (!holds) throw new SkeinError('INVALID_CONFIGURATION', message);
  };
  const says = (key: ConfigKey): string => `${key} (${sources[key]})`;

  require(LOG_LEVELS.includes(config.log_level), `${says('log_level')}: expected one of ${LOG_LEVELS.join(', ')}`);
  require(config.host !== '', `${says('host')} is empty`);
  require(config.internal_host !== '', `${says('internal_host')} is empty`);

  const memory = machineMemory();
  require(config['worker.memory_limit'] <=
    memory, `${says('worker.memory_limit')} is more than this machine has (${memory} bytes)`);
  require(config['worker.memory_limit'] >= WORKER_MEMORY_MIN, `${says('worker.memory_limit')} is less than 64MiB`);
  require(config['cluster.heartbeat_timeout'] >
    config[
      'cluster.heartbeat_interval'
    ], `${says('cluster.heartbeat_timeout')} must be longer than cluster.heartbeat_interval`);
  require(config['cluster.secret'] === '' ||
    config['cluster.secret_file'] === '', `${says('cluster.secret_file')} and cluster.secret are both set`);
  for (const prefix of ['cluster.tls', 'cluster.etcd_tls'] as const) {
    const keys = [`${prefix}_ca`, `${prefix}_cert`, `${prefix}_key`] as const;
    const unset = keys.filter((key) => config[key] === '');
    require(unset.length % 3 === 0, `${keys.join(', ')} are set together, and ${unset.join(', ')} is not`);
  }
  checkDoors(config, require);
  const objection = config['cluster.etcd_endpoints'].map((text) => etcdObjection(text, config)).find(Boolean);
  require(objection === undefined, `${says('cluster.etcd_endpoints')}: ${objection}`);
  require(config['cluster.lease_ttl'] >= 1_000, `${says('cluster.lease_ttl')} is less than 1s`);
  require(config['catalog.token_ttl'] <=
    config['catalog.token_ttl_max'], `${says('catalog.token_ttl')} is longer than catalog.token_ttl_max`);
  require(config['catalog.cache_lease'] <=
    CACHE_LEASE_MS_MAX, `${says('catalog.cache_lease')} is longer than ${CACHE_LEASE_MS_MAX}ms`);
  require(config['catalog.credential_time'] >= 900_000 &&
    config['catalog.credential_time'] <= 3_600_000, `${says('catalog.credential_time')}: expected 15m to 1h`);
  checkWayIn(config, require, says);
  require(config['coordinator.query_timeout'] <=
    config[
      'coordinator.query_timeout_max'
    ], `${says('coordinator.query_timeout')} is longer than coordinator.query_timeout_max`);
  require(config['coordinator.query_timeout_max'] <=
    TIMER_MS_MAX, `${says('coordinator.query_timeout_max')} is longer than ${TIMER_MS_MAX}ms (24 days)`);
  for (const service of ['catalog', 'coordinator'] as const) {
    // A tenant gets half of the memory for bodies.
    require(config[`${service}.body_bytes_max`] <=
      config[`${service}.bodies_bytes_max`] /
        2, `${says(`${service}.body_bytes_max`)} is more than half of ${service}.bodies_bytes_max`);
  }
  require(config['metrics.token'] === '' ||
    METRICS_TOKEN.test(
      config['metrics.token'],
    ), `${says('metrics.token')}: expected at least 16 characters, no spaces`);
  require(config['traces.otlp_endpoint'] === '' ||
    isPlainUrl(
      config['traces.otlp_endpoint'],
    ), `${says('traces.otlp_endpoint')}: expected http://host:port, without a password`);
  require(config['database.url'] === '' ||
    /^postgres(ql)?:$/.test(
      URL.parse(config['database.url'])?.protocol ?? '',
    ), `${says('database.url')}: expected postgres://user:password@host:port/database`);
  // The rest is for clocks that differ, and for the last statement and the commit of a transaction that has run out of time.
  require(config['coordinator.transaction_timeout'] <=
    config['catalog.table_version_lifetime'] /
      2, `${says('coordinator.transaction_timeout')} is more than half of catalog.table_version_lifetime`);
  return fitSessions(fitQueryMemory(loaded, says), says);
}

/** Whether a text is a URL of HTTP that may be logged. */
function isPlainUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

/** The way from clients to the catalog and the query API, and the addresses to which a sign-in leads back. */
function checkWayIn(
  config: Config,
  require: (holds: boolean, message: string) => void,
  says: (key: ConfigKey) => string,
): void {
  const url = config['catalog.public_url'];
  const isAddress = url === '' || isPlainUrl(url);
  require(isAddress, `${says('catalog.public_url')}: expected an address such as https://catalog.example.com`);
  const redirect = config['catalog.sign_in_redirects'].find((text) => parseRedirect(text) === undefined);
  require(redirect ===
    undefined, `${says('catalog.sign_in_redirects')}: expected <client id>=<address of http or https>, got ${redirect}`);
  const audience = unfitAudience(config['catalog.outside_audiences']);
  require(audience ===
    undefined, `${says('catalog.outside_audiences')}: expected <tenant>=<audience>, each audience once and none that begins with skein:, got ${audience}`);
  for (const key of ['catalog.trusted_proxies', 'coordinator.trusted_proxies'] as const) {
    const proxy = config[key].find((text) => !isProxy(text));
    require(proxy ===
      undefined, `${says(key)}: expected addresses, networks such as 10.0.0.0/8, or loopback, got ${proxy}`);
  }
}

/** The certificates of the doors, and those that commands show there. */
function checkDoors(config: Config, require: (holds: boolean, message: string) => void): void {
  for (const prefix of ['catalog.tls', 'coordinator.tls', 'client.tls'] as const) {
    const [cert, key] = [`${prefix}_cert`, `${prefix}_key`] as const;
    require((config[cert] === '') === (config[key] === ''), `${cert} and ${key} are set together`);
  }
  require(config['coordinator.tls_client_ca'] === '' ||
    config['coordinator.tls_cert'] !== '', 'coordinator.tls_client_ca needs coordinator.tls_cert');
}

/** Returns the objection to an insecure etcd endpoint: etcd names the workers, so nobody on the network may change its answers. */
function etcdObjection(endpoint: string, config: Config): string | undefined {
  const url = URL.parse(endpoint.includes('://') ? endpoint : `http://${endpoint}`);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    return 'expected http://host:port or https://host:port';
  if (url.protocol === 'http:') {
    return isLoopback(url.hostname)
      ? undefined
      : `${url.host} is beyond loopback, where etcd needs https:// (mutual TLS)`;
  }
  const hasFiles = config['cluster.etcd_tls_ca'] !== '' || config['cluster.tls_ca'] !== '';
  return hasFiles ? undefined : `${url.host} needs cluster.tls_* or cluster.etcd_tls_*`;
}

/** Whether the text is an address, a network, or a name that the HTTP server knows. */
function isProxy(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const [, address = '', length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return bits > 0 && Number(length ?? bits) <= bits && length !== '0';
}

/** By default one principal may have one in this many of all sessions. */
const SESSIONS_SHARE = 10;

function fitSessions(loaded: LoadedConfig, says: (key: ConfigKey) => string): LoadedConfig {
  const { config, sources } = loaded;
  const { 'coordinator.sessions_max': sessionsMax, 'coordinator.sessions_per_principal_max': perPrincipal } = config;
  if (sources['coordinator.sessions_per_principal_max'] !== 'default') {
    if (perPrincipal <= sessionsMax) return loaded;
    throw new SkeinError(
      'INVALID_CONFIGURATION',
      `${says('coordinator.sessions_per_principal_max')} is more than coordinator.sessions_max`,
    );
  }
  const share = Math.ceil(sessionsMax / SESSIONS_SHARE);
  if (perPrincipal <= share) return loaded;
  return {
    config: { ...config, 'coordinator.sessions_per_principal_max': share } satisfies Config,
    sources: { ...sources, 'coordinator.sessions_per_principal_max': 'computed' },
  };
}

function fitQueryMemory(loaded: LoadedConfig, says: (key: ConfigKey) => string): LoadedConfig {
  const { config, sources } = loaded;
  if (config['worker.query_memory_limit'] <= config['worker.memory_limit']) return loaded;
  if (sources['worker.query_memory_limit'] !== 'default') {
    throw new SkeinError(
      'INVALID_CONFIGURATION',
      `${says('worker.query_memory_limit')} is more than worker.memory_limit (${config['worker.memory_limit']} bytes)`,
    );
  }
  return {
    config: { ...config, 'worker.query_memory_limit': config['worker.memory_limit'] } satisfies Config,
    sources: { ...sources, 'worker.query_memory_limit': 'computed' },
  };
}
