import { createServer, type AddressInfo, type Server } from 'node:net';
import type { Config } from '#shared/config/config-schema.ts';
import { flightHost } from '#shared/config/flight-host.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';

/** Offsets from `--port-base`. */
const OFFSET = { catalog: 0, http: 1, flight: 2, postgresWire: 3, workers: 10 } as const;
const PORT_MAX = 65_535;

export type ClusterPorts = {
  readonly catalog: number;
  readonly catalogInternal: number;
  readonly http: number;
  readonly flight: number;
  readonly postgresWire: number;
  /** The database's. */
  readonly postgres: number;
  readonly workers: readonly number[];
  readonly workerMetrics: readonly number[];
};

type Wish = { readonly what: string; readonly host: string; readonly port: number };

/**
 * Chooses the ports of a cluster on this machine, each free at this moment: the configured ones, and any free ones for the rest.
 * @throws PORT_IN_USE, INVALID_CONFIGURATION (a host that is not of this machine)
 */
export async function choosePorts(config: Config): Promise<ClusterPorts> {
  const count = config['up.workers'];
  const wishes = wishesOf(config, count);
  const fixed = wishes.map(({ port }) => port).filter((port) => port !== 0);
  const twice = fixed.find((port, i) => fixed.indexOf(port) !== i);
  if (twice !== undefined) throw new SkeinError('INVALID_CONFIGURATION', `port ${twice} is configured twice`);

  // All are held open until the last is chosen, so that no two are the same.
  const servers: Server[] = [];
  try {
    for (const wish of wishes) servers.push(await listen(wish));
    const ports = servers.map((server) => (server.address() as AddressInfo).port);
    const at = (i: number): number => must(ports[i], 'a port for every wish');
    return {
      catalog: at(0),
      catalogInternal: at(1),
      http: at(2),
      flight: at(3),
      postgresWire: at(4),
      postgres: at(5),
      workers: ports.slice(6, 6 + count),
      workerMetrics: ports.slice(6 + count),
    };
  } finally {
    await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  }
}

function wishesOf(config: Config, count: number): readonly Wish[] {
  const base = config['up.port_base'];
  const port = (configured: number, offset: number): number =>
    base === -1 ? configured : base === 0 ? 0 : base + offset;
  const workerPort = port(config['worker.port'], OFFSET.workers);
  if (workerPort + count - 1 > PORT_MAX) {
    throw new SkeinError('INVALID_CONFIGURATION', `no ports left for ${count} workers above ${workerPort}`);
  }
  const names = Array.from({ length: count }, (_, i) => `worker-${i + 1}`);
  return [
    { what: 'catalog', host: config.host, port: port(config['catalog.port'], OFFSET.catalog) },
    { what: 'catalog, internal', host: config.internal_host, port: config['catalog.internal_port'] },
    { what: 'query HTTP', host: config.host, port: port(config['coordinator.http_port'], OFFSET.http) },
    { what: 'Flight SQL', host: flightHost(config), port: port(config['coordinator.flight_port'], OFFSET.flight) },
    {
      what: 'Postgres wire',
      host: flightHost(config),
      port: port(config['coordinator.postgres_port'], OFFSET.postgresWire),
    },
    { what: 'postgres', host: '127.0.0.1', port: 0 },
    ...names.map((what, i) => ({
      what,
      host: config.internal_host,
      port: workerPort === 0 ? 0 : workerPort + i,
    })),
    ...names.map((what) => ({ what: `${what}, metrics`, host: config.internal_host, port: 0 })),
  ];
}

function listen({ what, host, port }: Wish): Promise<Server> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(refused({ what, host, port }, cause)));
    server.listen({ host, port, exclusive: true }, () => resolve(server));
  });
}

function refused({ what, host, port }: Wish, cause: NodeJS.ErrnoException): SkeinError {
  const advice = 'choose others with --port-base P (0 = any free ports)';
  const code = cause.code ?? cause.message;
  if (code === 'EADDRINUSE') {
    return new SkeinError('PORT_IN_USE', `port ${port} (${what}) of ${host} is in use; ${advice}`, { cause });
  }
  if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code)) {
    return new SkeinError('INVALID_CONFIGURATION', `${host} is not an address of this machine (${what})`, { cause });
  }
  const reason = code === 'EACCES' ? 'this user may not' : code;
  return new SkeinError('START_FAILED', `cannot listen on ${host}:${port} (${what}): ${reason}; ${advice}`, { cause });
}

/** The REST catalog as a client of this machine or of another reaches it, over TLS when it has a certificate. */
export const catalogUrl = (config: Config, port: number): string =>
  `${config['catalog.tls_cert'] === '' ? 'http' : 'https'}://${reachable(config, port)}`;

/** The query API, over TLS when the doors have a certificate. */
export const queryUrl = (config: Config, port: number): string =>
  `${hasTls(config) ? 'https' : 'http'}://${reachable(config, port)}`;

/** Flight SQL, over TLS when the doors have a certificate. */
export const flightSqlUrl = (config: Config, port: number): string =>
  `grpc+${hasTls(config) ? 'tls' : 'tcp'}://${passwordDoor(config, port)}`;

/** The Postgres wire; its database is the first catalog. */
export const postgresUrl = (config: Config, port: number): string =>
  `postgres://${passwordDoor(config, port)}/${encodeURIComponent(config['bootstrap.catalog'])}`;

/** The address of a door that takes passwords: without a certificate it may be on loopback alone. */
function passwordDoor(config: Config, port: number): string {
  const host = flightHost(config);
  return host === config.host ? reachable(config, port) : `${host}:${port}`;
}

const hasTls = (config: Config): boolean => config['coordinator.tls_cert'] !== '';

function reachable(config: Config, port: number): string {
  const { host } = config;
  const wildcard = host === '0.0.0.0' || host === '::';
  const name = config['cluster.advertise_host'] || (wildcard ? '127.0.0.1' : host);
  return `${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}:${port}`;
}
