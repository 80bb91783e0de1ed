import { X509Certificate } from 'node:crypto';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Config, ConfigKey } from '#shared/config/config-schema.ts';
import { flightHost } from '#shared/config/flight-host.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { probePostgres } from '#shared/database/probe-postgres.ts';
import { SkeinError } from '#shared/error.ts';
import { certificateDates } from '#shared/grpc/certificate-dates.ts';
import { openChannelSecurity } from '#shared/grpc/channel-security.ts';
import { CLUSTER_ROLES, rolesOf, type ClusterRole } from '#shared/grpc/cluster-role.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { listMembers } from '#shared/membership/list-members.ts';
import { hasSecret } from '#shared/keyring.ts';
import { postgresAddress, tryWays, type Others, type Way } from '#shared/membership/try-ways.ts';
import { describeMember } from '../ask-members.ts';
import { doorFetch, doorTrust } from '../door-fetch.ts';
import { UsageError } from '../exit-code.ts';
import { CERTIFICATE_SOON_MS, CLOCK_OFFSET_MS_MAX, dayOf } from '../host-status.ts';
import { failed, nearestFolder, ok, warning, type Finding } from './finding.ts';

type HostService = 'catalog' | 'coordinator' | 'worker';
/** A machine of a cluster of hosts, and the services that it should run. */
export type Host = { readonly loaded: LoadedConfig; readonly services: readonly HostService[] };

const SERVICES = ['catalog', 'coordinator', 'worker'] as const satisfies readonly HostService[];
const POSTGRES_VERSION_MIN = 15;
const POSTGRES_CONNECTIONS_MIN = 100;
const TIMEOUT_MS = 3_000;

/** The services that `named` says, else those of the roles of the certificate. @throws UsageError */
export function servicesOf(config: Config, named: readonly string[]): readonly HostService[] {
  const wrong = named.find((one) => !SERVICES.some((known) => known === one));
  if (wrong !== undefined) throw new UsageError(`--service ${wrong}: expected one of ${SERVICES.join(', ')}`);
  if (named.length > 0) return SERVICES.filter((one) => named.includes(one));
  return SERVICES.filter((one) => ownRoles(config).includes(one));
}

/** The checks of a host of a cluster, in the order in which they run; a check that throws has failed. */
export const HOST_CHECKS: Readonly<Record<string, (host: Host) => Promise<Finding>>> = {
  services: async ({ services }) =>
    services.length === 0
      ? warning('the certificate is for none: an operator’s machine? --service says which this host should run')
      : ok(services.join(', ')),

  'address for others': async ({ loaded: { config }, services }) => {
    const { 'cluster.advertise_host': name, internal_host: bound } = config;
    if (services.length === 0) return ok('not needed');
    if (name !== '') return ok(name);
    return ['0.0.0.0', '::'].includes(bound)
      ? failed(
          `cluster.advertise_host is not set, and internal_host is ${bound}: others do not know how to reach this host`,
        )
      : ok(bound);
  },

  secret: async ({ loaded: { config } }) => {
    if (!hasSecret(config)) return failed('neither cluster.secret_file nor cluster.secret is set');
    const path = config['cluster.secret_file'];
    return path === '' ? warning('it is in the environment; a file can be replaced while services run') : guarded(path);
  },

  certificates: async ({ loaded: { config }, services }) => certificates(config, services),

  'services’ ports': async ({ loaded, services }) => {
    const found = await Promise.all(
      services.map(async (service) => [service, await portsOf(service, loaded)] as const),
    );
    const problem = found
      .map(([, { message, state }]) => (state === 'failed' ? message : ''))
      .filter((one) => one !== '');
    if (problem.length > 0) return failed(problem.join('; '));
    return ok(found.map(([service, { message }]) => `${service}: ${message}`).join('; ') || 'none');
  },

  etcd: async ({ loaded }) => waysFinding((await ownWays(loaded)).filter(({ kind }) => kind === 'etcd')),

  catalogs: async ({ loaded, services }) =>
    services.includes('coordinator') || services.length === 0
      ? waysFinding((await ownWays(loaded)).filter(({ kind }) => kind === 'catalog'))
      : ok('not needed'),

  'Postgres of the cluster': async ({ loaded: { config }, services }) => {
    if (!services.includes('catalog') && !services.includes('coordinator'))
      return config['database.url'] === '' ? ok('not needed') : warning('a worker needs no database.url');
    return postgres(config);
  },

  warehouse: async ({ loaded: { config }, services }) => warehouse(config, services),

  clocks: async ({ loaded }) => clocks(loaded),
};

function ownRoles(config: Config): readonly ClusterRole[] {
  const path = config['cluster.tls_cert'];
  if (path === '') return [];
  try {
    return rolesOf(new X509Certificate(readFileSync(path)).subjectAltName);
  } catch {
    return [];
  }
}

/** A file that only its owner and group read. */
function guarded(path: string): Finding {
  const mode = statSync(path).mode & 0o777;
  accessSync(path, constants.R_OK);
  return (mode & 0o007) === 0
    ? ok(path)
    : failed(`${path} can be read by every user of this machine (mode ${mode.toString(8)})`);
}

async function certificates(config: Config, services: readonly HostService[]): Promise<Finding> {
  const { 'cluster.tls_ca': ca, 'cluster.tls_cert': cert, 'cluster.tls_key': key } = config;
  if (ca === '')
    return failed(
      'cluster.tls_ca, cluster.tls_cert and cluster.tls_key are not set: internal channels stay on this machine',
    );
  const role = services[0] ?? CLUSTER_ROLES.find((one) => ownRoles(config).includes(one)) ?? 'operator';
  // Says what does not fit together, or has ended.
  openChannelSecurity(config, role, silentLogger)[Symbol.dispose]();
  const [leaf, authority] = [new X509Certificate(readFileSync(cert)), new X509Certificate(readFileSync(ca))];
  const isIssued = leaf.checkIssued(authority) && leaf.verify(authority.publicKey);
  // A file of authorities may hold several.
  const others = readFileSync(ca, 'utf8').split('-----BEGIN CERTIFICATE-----').length - 1;
  if (!isIssued && others === 1) return failed(`${cert} is not of the authority in ${ca}`);
  const missing = services.filter((one) => !ownRoles(config).includes(one));
  if (missing.length > 0) return failed(`${cert} is not for ${missing.join(', ')}`);
  const open = guarded(key);
  if (open.state === 'failed') return open;
  const dates = certificateDates(config);
  const ended = dates.filter(({ endsMs }) => endsMs < Date.now());
  if (ended.length > 0)
    return failed(ended.map(({ use, endsMs }) => `${use} has ended on ${dayOf(endsMs)}`).join('; '));
  const text = dates.map(({ use, endsMs }) => `${use} until ${dayOf(endsMs)}`).join('; ');
  return dates.some(({ endsMs }) => endsMs < Date.now() + CERTIFICATE_SOON_MS) ? warning(text) : ok(text);
}

/** The ports that a service listens on, each with its address. */
function listensOn(service: HostService, config: Config): readonly (readonly [host: string, port: number])[] {
  const { host, internal_host: internal } = config;
  const on = (address: string, key: ConfigKey): readonly [string, number] => [address, Number(config[key])];
  switch (service) {
    case 'catalog':
      return [on(host, 'catalog.port'), on(internal, 'catalog.internal_port')];
    case 'coordinator':
      return [
        on(host, 'coordinator.http_port'),
        on(flightHost(config), 'coordinator.flight_port'),
        on(flightHost(config), 'coordinator.postgres_port'),
        on(internal, 'coordinator.internal_port'),
      ];
    case 'worker':
      return [on(internal, 'worker.port'), on(internal, 'worker.metrics_port')];
  }
}

/** Whether the service runs here, or its ports are free. */
async function portsOf(service: HostService, { config }: LoadedConfig): Promise<Finding> {
  const ports = listensOn(service, config);
  const fixed = ports.filter(([, port]) => port !== 0);
  const taken = (await Promise.all(fixed.map(async (one) => ((await isFree(...one)) ? [] : [one[1]])))).flat();
  if (taken.length > 0) {
    if (await runsHere(service, config)) return ok(`runs, on ${fixed.map(([, port]) => port).join(', ')}`);
    return failed(`${service}: port ${taken.join(' and ')} is in use by something else`);
  }
  const unfixed = ports.length - fixed.length;
  const text = `does not run; ${fixed.map(([, port]) => port).join(', ')} are free`;
  return ok(unfixed === 0 ? text : `${text}; ${unfixed} ports are any free ones, which no firewall can name`);
}

function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** Whether the process on a service's ports is that service. */
async function runsHere(service: HostService, config: Config): Promise<boolean> {
  const host = (bound: string): string => (['0.0.0.0', '::'].includes(bound) ? '127.0.0.1' : bound);
  const health = async (url: string): Promise<boolean> =>
    doorFetch(
      `${url}/health`,
      doorTrust(
        config,
        [config['coordinator.tls_cert'], config['catalog.tls_cert']].filter((path) => path !== ''),
      ),
      {
        signal: AbortSignal.timeout(TIMEOUT_MS),
      },
    ).then(
      (response) => response.ok,
      () => false,
    );
  // A process that proves the role.
  const proves = async (others: Partial<Others>): Promise<boolean> => {
    using security = openChannelSecurity(config, service, silentLogger);
    const bare = { ...config, 'database.url': '', 'cluster.etcd_endpoints': [] };
    return (await tryWays(bare, security, { catalogs: [], workers: [], ...others })).every(({ problem }) => !problem);
  };
  const at = (port: number): readonly string[] => (port === 0 ? [] : [`${host(config.internal_host)}:${port}`]);
  switch (service) {
    case 'catalog':
      return (
        (await proves({ catalogs: at(config['catalog.internal_port']) })) &&
        health(
          `${config['catalog.tls_cert'] === '' ? 'http' : 'https'}://${host(config.host)}:${config['catalog.port']}`,
        )
      );
    case 'coordinator':
      return health(
        `${config['coordinator.tls_cert'] === '' ? 'http' : 'https'}://${host(config.host)}:${config['coordinator.http_port']}`,
      );
    case 'worker':
      return (
        (await proves({ workers: at(config['worker.port']) })) &&
        (config['worker.metrics_port'] === 0 ||
          health(`http://${host(config.internal_host)}:${config['worker.metrics_port']}`))
      );
  }
}

/** The ways of this machine to etcd and to the catalogs that are configured. */
async function ownWays({ config }: LoadedConfig): Promise<readonly Way[]> {
  const role = CLUSTER_ROLES.find((one) => ownRoles(config).includes(one)) ?? 'operator';
  using security = openChannelSecurity(config, role, silentLogger);
  const others = { catalogs: config['catalog.internal_url'], workers: [] };
  return tryWays({ ...config, 'database.url': '' }, security, others);
}

function waysFinding(ways: readonly Way[]): Finding {
  const closed = ways.filter(({ problem }) => problem !== undefined);
  if (closed.length === 0) return ok(`${ways.map(({ address }) => address).join(', ')} answer`);
  const text = closed.map(({ address, problem }) => `${address}: ${problem}`).join('; ');
  return closed.length === ways.length ? failed(text) : warning(text);
}

async function postgres(config: Config): Promise<Finding> {
  const url = config['database.url'];
  if (url === '') return failed('database.url is not set');
  const facts = await probePostgres(url, TIMEOUT_MS);
  const address = postgresAddress(url);
  const { version, connectionsMax, isEncrypted } = facts;
  if (version < POSTGRES_VERSION_MIN)
    return failed(`${address} is Postgres ${version}; ${POSTGRES_VERSION_MIN} is needed`);
  const text = `${address}: Postgres ${version}, ${isEncrypted ? 'TLS' : 'no TLS'}, max_connections ${connectionsMax}`;
  const isFar = !['127.0.0.1', '[::1]', 'localhost', ''].includes(new URL(url).hostname);
  if (isFar && !isEncrypted) return warning(`${text}: the password and all data go over the network in the clear`);
  return connectionsMax < POSTGRES_CONNECTIONS_MIN ? warning(text) : ok(text);
}

async function warehouse(config: Config, services: readonly HostService[]): Promise<Finding> {
  const location = config['bootstrap.warehouse'];
  if (location === '') {
    return services.includes('catalog')
      ? failed('bootstrap.warehouse is not set: a catalog of several hosts does not start without it')
      : ok('the catalogs name it');
  }
  if (!/^(file:|\/)/.test(location)) return ok(location);
  const path = location.replace(/^file:(\/\/)?/, '');
  const folder = nearestFolder(path);
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  return ok(folder === path ? `${path} can be written` : `${path} will be made`);
}

/** Compares this machine's clock with those of Postgres and of the members. */
async function clocks({ config }: LoadedConfig): Promise<Finding> {
  const offsets: (readonly [string, number])[] = [];
  const url = config['database.url'];
  if (url !== '') {
    const facts = await probePostgres(url, TIMEOUT_MS).catch(() => undefined);
    if (facts !== undefined) offsets.push(['Postgres', Math.round(facts.nowMs - facts.ownNowMs)]);
  }
  // Members tell their time to operators alone.
  if (ownRoles(config).includes('operator')) {
    using security = openChannelSecurity(config, 'operator', silentLogger);
    const { members } = await listMembers(config, silentLogger);
    const found = await Promise.all(
      members.map(async (member) => {
        const described = await describeMember(security, member).catch(() => undefined);
        return described === undefined ? [] : [[`${member.kind} ${member.name}`, described.clockOffsetMs] as const];
      }),
    );
    offsets.push(...found.flat());
  }
  if (offsets.length === 0)
    return ok('nothing to compare with here: skein status compares them from an operator’s machine');
  const far = offsets.filter(([, ms]) => Math.abs(ms) > CLOCK_OFFSET_MS_MAX);
  const text = (all: typeof offsets): string =>
    all.map(([name, ms]) => `${name} ${ms >= 0 ? '+' : ''}${ms} ms`).join(', ');
  return far.length === 0 ? ok(text(offsets)) : failed(text(far));
}

/** Why a check failed. */
export const reasonOf = (error: unknown): string =>
  error instanceof SkeinError || error instanceof Error ? error.message : String(error);
