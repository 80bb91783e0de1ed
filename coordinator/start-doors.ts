import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { systemClock } from '#shared/clock.ts';
import { atLocalhost } from '#shared/config/loopback.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { Objects } from './api/browse/objects.ts';
import { ByteBudget } from '#shared/byte-budget.ts';
import { Newcomers, newcomerLimits } from '#shared/newcomers/newcomers.ts';
import type { TableReader } from '#shared/iceberg/table-reader.ts';
import type { Logger } from '#shared/log/logger.ts';
import { openDoorTls, type DoorTls } from '#shared/grpc/door-tls.ts';
import { TokenVerifier } from '#shared/token-verifier.ts';
import { openFlightDoor } from './api/flight-sql/open-door.ts';
import { startHttp } from './api/http-server.ts';
import { openPostgresDoor } from './api/postgres/open-door.ts';
import { tableApi } from './api/http/table-api.ts';
import { authenticator, catalogKeys, type Authenticate } from './auth/authenticate.ts';
import type { EpochWatch } from './auth/epoch-watch.ts';
import { passwordSignIn, withAccessTokens } from './auth/sign-in.ts';
import type { HistoryDatabase } from './history/history-database.ts';
import type { HistoryReader } from './history/read-history.ts';
import type { ClientTexts } from './client-texts.ts';
import type { ClusterView } from './observe/cluster-view.ts';
import type { Events } from './observe/event-hub.ts';
import type { QueryMetrics } from './query/query-metrics.ts';
import type { QueryService } from './query/query-service.ts';
import { KeptResults } from './result/kept-results.ts';
import { Inspector } from './inspect/inspector.ts';
import type { SessionServices } from './session/session-services.ts';
import type { Workload } from './workload/workload.ts';
import { StageService } from './stage/stage-service.ts';
import { StageUploads } from './stage/stage-uploads.ts';
import { Transfers } from './stage/transfers.ts';
import type { StageApi } from './api/http/stage-routes.ts';
import { useCode } from './history/used-codes.ts';
import type { SignIn } from './auth/sign-in.ts';
import type { ConsoleOptions } from './api/console/console-routes.ts';
import { PersonSignIns } from './api/console/person-sign-ins.ts';
import type { CatalogClient } from './catalog-client/catalog-client.ts';

/** The configuration, and the stack that closes what is opened. */
type Parts = { readonly config: Config; readonly log: Logger; readonly stack: AsyncDisposableStack };

/** Where clients reach the doors. */
type Doors = {
  readonly queryUrl: string;
  readonly flightSqlUrl: string;
  readonly postgresUrl: string;
  /** Connections that are in a transaction. */
  readonly inTransaction: () => number;
};

/** Whether this coordinator serves statements. */
type Lead = {
  /** The reason why it serves nothing; undefined when it does. */
  readonly standby: () => string | undefined;
  /** It hands over the lead: what has begun goes on. */
  readonly isLeaving: () => boolean;
};

export function stageApi(
  { config, log }: Pick<Parts, 'config' | 'log'>,
  { keyring }: ChannelSecurity,
  { catalog, names, store }: SessionServices,
): StageApi {
  const service = new StageService({
    catalog: catalog.stages,
    uploads: new StageUploads(catalog.stages, log),
    keyring,
    nowMs: () => systemClock.nowMs(),
    urlTtlMs: config['coordinator.stage_url_ttl'],
    urlTtlMsMax: config['coordinator.stage_url_ttl_max'],
    fileBytesMax: config['coordinator.stage_file_bytes_max'],
  });
  const transfers = new Transfers({
    transfersMax: config['coordinator.stage_transfers_max'],
    perPrincipalMax: config['coordinator.stage_transfers_per_principal_max'],
    idleMs: config['coordinator.stage_idle_timeout'],
    bytesMax: config['coordinator.stage_file_bytes_max'],
  });
  const askerOf: StageApi['askerOf'] = (caller, key) => ({ caller, session: store.get(key), names, catalog });
  return { service, transfers, askerOf, url: config['coordinator.url'] };
}

/** The parts that the console needs beside the sign-in; undefined: it is off. */
export const consoleOf = (
  config: Config,
  { keyring }: ChannelSecurity,
  database: Kysely<HistoryDatabase>,
  catalog: CatalogClient,
): ApiParts['console'] =>
  config['coordinator.console'] === 'off'
    ? undefined
    : {
        keyring,
        sessionTtlMs: config['coordinator.console_session_ttl'],
        publicUrl: config['coordinator.url'],
        useCode: (id, untilMs) => useCode(database, id, untilMs),
        nowMs: () => systemClock.nowMs(),
        people: new PersonSignIns({ database, catalog, keyring, nowMs: () => systemClock.nowMs() }),
        catalogUrl: catalogAddress(config),
      };

/** The address by which people and clients reach the catalog. */
const catalogAddress = (config: Config): string =>
  (config['catalog.public_url'] || atLocalhost(config['catalog.url'])).replace(/\/$/, '');

export type ApiParts = {
  readonly texts: ClientTexts;
  readonly sessions: SessionServices;
  readonly tables: TableReader;
  /** The workload that is in force. */
  readonly workload: () => Workload;
  readonly stages: StageApi;
  /** Undefined: it is off. */
  readonly console: Omit<ConsoleOptions, 'signIn'> | undefined;
  readonly queries: QueryService;
  readonly view: ClusterView;
  readonly events: Events;
  readonly records: HistoryReader;
  readonly epochs: EpochWatch;
  readonly metrics: QueryMetrics;
  readonly notReady: () => string | undefined;
};

/** Starts every door for clients, all of which sign in the same users. */
export async function startDoors(parts: Parts, api: ApiParts, { standby, isLeaving }: Lead): Promise<Doors> {
  const { catalog } = api.sessions;
  const verifier = new TokenVerifier({
    keys: catalogKeys(catalog),
    epochOf: (principal) => api.epochs.current(principal),
    hasEnded: (signIn) => api.epochs.hasEnded(signIn),
    nowMs: () => systemClock.nowMs(),
  });
  const byToken = authenticator(verifier, catalog);
  const signIn = passwordSignIn(byToken, catalog, () => systemClock.monotonicMs());
  const authenticate = withAccessTokens(byToken, signIn);
  const tls = openDoorTls(parts.config, parts.log);
  if (tls !== undefined) parts.stack.use(tls);
  const http = await startApi(parts, api, { authenticate, signIn, tls });
  const { queries, sessions } = api;
  const arrivals = {
    folder: join(parts.config.data_dir, 'spool'),
    budget: new ByteBudget(parts.config['coordinator.arrived_rows_bytes']),
  };
  const flight = await openFlightDoor(parts, { queries, sessions, authenticate, signIn, tls, standby, arrivals });
  parts.stack.defer(() => flight.close());
  const postgres = await openPostgresDoor({
    config: parts.config,
    log: parts.log,
    queries,
    sessions,
    authenticate,
    signIn,
    tls,
    standby,
    arrivals,
    texts: api.texts,
    isLeaving,
    requireEpoch: (claims) => verifier.requireEpoch(claims),
  });
  parts.stack.defer(() => postgres.close());
  const { url: postgresUrl, inTransaction } = postgres;
  return { queryUrl: http.url, flightSqlUrl: flight.url, postgresUrl, inTransaction };
}

const keptResults = (config: Config): KeptResults =>
  new KeptResults({
    ttlMs: config['coordinator.kept_result_ttl'],
    bytesMax: config['coordinator.kept_result_bytes_max'],
    bytesInAllMax: config['coordinator.kept_results_bytes'],
    memoryBytesMax: config['coordinator.kept_results_memory'],
    perPrincipalMax: config['coordinator.kept_results_per_principal_max'],
    folder: join(config.data_dir, 'spool'),
  });

async function startApi(
  { config, log, stack }: Parts,
  api: ApiParts,
  {
    authenticate,
    signIn,
    tls,
  }: { readonly authenticate: Authenticate; readonly signIn: SignIn; readonly tls: DoorTls | undefined },
): Promise<{ readonly url: string }> {
  const { store, names, catalog } = api.sessions;
  const http = await startHttp({
    host: config.host,
    port: config['coordinator.http_port'],
    tls,
    bodyBytesMax: config['coordinator.body_bytes_max'],
    bodiesBytesMax: config['coordinator.bodies_bytes_max'],
    requestTimeoutMs: config['coordinator.request_timeout'],
    holdbackBytes: config['coordinator.result_holdback'],
    resultBytesMax: config['coordinator.result_bytes_max'],
    timeoutMsMax: config['coordinator.query_timeout_max'],
    authenticate,
    newcomers: new Newcomers(newcomerLimits(config)),
    texts: api.texts,
    queries: api.queries,
    kept: stack.use(keptResults(config)),
    view: api.view,
    events: api.events,
    history: api.records,
    tables: tableApi({
      catalog,
      currentCatalog: async (caller, key) => (await names.current(caller, store.get(key))).catalog,
    }),
    browse: {
      objects: new Objects(catalog),
      currentNames: (caller, key) => names.current(caller, store.get(key)),
    },
    inspector: new Inspector({
      catalog,
      tables: api.tables,
      sumsBytesMax: config['coordinator.metadata_rows_bytes_max'],
      bookmarkKeys: config['snapshot.bookmark_keys'],
      nowMs: () => systemClock.nowMs(),
    }),
    administer: { principals: catalog, workload: api.workload },
    stages: api.stages,
    console: api.console && { ...api.console, signIn },
    metrics: api.metrics,
    metricsToken: config['metrics.token'],
    trustedProxies: config['coordinator.trusted_proxies'],
    addresses: {
      query: config['coordinator.url'].replace(/\/$/, ''),
      catalog: catalogAddress(config),
    },
    notReady: api.notReady,
    log,
  });
  return stack.adopt(http, (server) => server.close());
}
