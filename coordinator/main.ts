import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import { ByteBudget } from '#shared/byte-budget.ts';
import { systemClock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { principalId, queryId, tenantId } from '#shared/id.ts';
import { AddressList } from '#shared/grpc/address-list.ts';
import { openChannelSecurity, type ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { LruManifestCache } from '#shared/iceberg/manifest-cache.ts';
import { GuardedTableReader, type TableReader } from '#shared/iceberg/table-reader.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { Candidate, Election, Lead } from '#shared/membership/election.ts';
import type { MemberProcess } from '#shared/membership/member-service.ts';
import { openElection } from '#shared/membership/open-membership.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { readerPool } from '#shared/thread/reader-pool.ts';
import type { WorkPool } from '#shared/thread/work-pool.ts';
import { EpochWatch } from './auth/epoch-watch.ts';
import { catalogClient, type CatalogClient } from './catalog-client/catalog-client.ts';
import { RenewingReader } from './catalog-client/renewing-reader.ts';
import { ActiveTerm } from './active-term.ts';
import { handOver, lead } from './hand-over.ts';
import { LeadLease } from './history/lead-lease.ts';
import {
  migrateHistory,
  openHistoryDatabase,
  STATEMENT_MS_MAX,
  type HistoryDatabase,
  type StoredRow,
} from './history/history-database.ts';
import { HistoryReader } from './history/read-history.ts';
import { openHistory } from './history/open-history.ts';
import { TextThreads } from './client-texts.ts';
import { workloadMetrics } from './observe/workload-metrics.ts';
import { openTraces } from './observe/open-traces.ts';
import { queryMetrics, type QueryMetrics } from './query/query-metrics.ts';
import type { QueryKey } from './query/query-registry.ts';
import { NameFinder } from './session/current-names.ts';
import type { SessionServices } from './session/session-services.ts';
import { ClientConnections } from './session/client-connections.ts';
import { EncodedBlocks } from './session/encoded-blocks.ts';
import { SessionStore } from './session/session-store.ts';
import { startCompiler } from './prepare/start-compiler.ts';
import { openMemberServer } from './open-member-server.ts';
import { Standing } from './standing.ts';
import { NO_WORKLOAD } from './workload/workload.ts';
import { WorkloadFile } from './workload/workload-file.ts';
import type { TermParts } from './start-term.ts';
import { consoleOf, stageApi, startDoors, type ApiParts } from './start-doors.ts';

export type RunningCoordinator = {
  readonly queryUrl: string;
  readonly flightSqlUrl: string;
  readonly postgresUrl: string;
  drain(): Promise<void>;
  close(): Promise<void>;
};

/** Everything that is built first; closed in the reverse order. */
type Parts = {
  readonly config: Config;
  readonly log: Logger;
  readonly stack: AsyncDisposableStack;
};

/**
 * Builds a coordinator and starts it; it serves queries while it leads, and with `member` it answers operators.
 * @throws START_FAILED, NEWER_DATA, PORT_IN_USE, INVALID_CONFIGURATION.
 */
export async function startCoordinator(
  config: Config,
  log: Logger,
  member?: MemberProcess,
): Promise<RunningCoordinator> {
  await using stack = new AsyncDisposableStack();
  const security = stack.use(openChannelSecurity(config, 'coordinator', log));
  const parts: Parts = { config, log, stack };
  const compiler = startCompiler(config, log, () => metrics.fragmentRefused());
  stack.defer(() => compiler.planner.close());
  const database = await openDatabase(parts);
  const history = stack.adopt(await openHistory(config, database, log), (open) => open.close());
  const [active, coordinatorId] = [new ActiveTerm(), member?.id ?? randomUUID()];
  const traces = stack.adopt(await openTraces(config, coordinatorId, log), (open) => open?.close());
  const records = new HistoryReader(database, history, {
    retentionMs: config['coordinator.history_retention'],
    live: (row) => active.term?.registry.profileOf(...statementOf(row)),
  });
  const cacheBytes = Math.floor(config['coordinator.metadata_cache_bytes'] / 4);
  const readers = stack.use(readerPool(config, cacheBytes, log));
  const catalogs = new AddressList(config['catalog.internal_url']);
  const catalog = stack.adopt(openCatalog(config, catalogs, { security, readers }), (client) => client.close());
  const epochs = stack.adopt(new EpochWatch(catalog, log, endStatements(active)), (watch) => watch.close());
  const sessions = startSessions(config, catalog);
  const manifestCaches = new LruManifestCache(cacheBytes);
  const fileLists = new ByteBudget(config['coordinator.file_lists_bytes_max']);
  const tables = tableReader(config, { catalog, manifestCaches, readers });
  const workload = stack.use(await WorkloadFile.open(config, log));
  const metrics = stack.use(
    activeMetrics(active, {
      sessions,
      workload,
      history,
      fileLists,
      metadataBytes: () => catalog.cacheBytes + manifestCaches.bytes,
    }),
  );
  workloadMetrics(metrics.registry, () => active.term);
  const texts = stack.use(new TextThreads(config, log));
  const served: ApiParts = {
    texts,
    sessions,
    tables,
    workload: () => (config['coordinator.workload'] === 'on' ? workload.current : NO_WORKLOAD),
    stages: stageApi(parts, security, sessions),
    console: consoleOf(config, security, database, catalog),
    queries: active.queries(),
    view: active.view(),
    events: active.events(),
    records,
    epochs,
    metrics,
    notReady: () => whyNotReady(active, epochs),
  };
  const doors = await startDoors(parts, served, { standby: () => active.standby, isLeaving: () => active.isLeaving });
  active.inTransaction = doors.inTransaction;
  const process = { config, log, security, coordinatorId, database, history, records, workload, traces };
  const term = { ...process, compiler, texts, sessions, tables, fileLists, metrics };
  // Closing the election ends the queries, with a reason, before the server closes.
  const candidate = { id: coordinatorId, url: reachableUrl(config, doors.queryUrl) };
  const internal = member && (await answerOperators(parts, { security, member, active, epochs }));
  const fitness = stack.use(await Standing.open({ config, candidate, internal, epochs, log }, catalogs));
  const election = stack.adopt(await stand(term, active, { candidate, fitness }), (open) => open.close());
  await election.started;
  log.info(doors, 'coordinator is up');
  const running = stack.move();
  const drain = (): Promise<void> => handOver({ ...process, active, election });
  return { ...doors, drain, close: () => running.disposeAsync() };
}

type Answering = {
  readonly security: ChannelSecurity;
  readonly member: MemberProcess;
  readonly active: ActiveTerm;
  readonly epochs: EpochWatch;
};

/** Why this coordinator serves no statements; undefined when it does. */
function whyNotReady(active: ActiveTerm, epochs: EpochWatch): string | undefined {
  if (active.open === undefined) return active.notActive().message;
  if (!epochs.isReached()) return 'no catalog answers';
  return active.open.pool.liveCount() > 0 ? undefined : active.open.pool.noWorkers().message;
}

/** Opens the port for operators, where etcd tells them of it. @returns its address */
async function answerOperators(
  { config, log, stack }: Parts,
  { active, epochs, ...parts }: Answering,
): Promise<string | undefined> {
  if (config['cluster.etcd_endpoints'].length === 0) return undefined;
  const reason = (): string | undefined => {
    if (active.open !== undefined) return whyNotReady(active, epochs);
    if (active.term !== undefined) return 'it hands over the lead';
    if (!epochs.isReached()) return 'no catalog answers';
    return active.leader() === undefined ? 'nobody leads' : undefined;
  };
  const server = stack.adopt(await openMemberServer({ config, log, ...parts, notReady: reason }), (open) =>
    open.close(),
  );
  return server.address;
}

/** Makes this coordinator a candidate for the lead. */
async function stand(
  term: Omit<TermParts, 'epoch' | 'lost'>,
  active: ActiveTerm,
  standing: { readonly candidate: Candidate; readonly fitness: Standing },
): Promise<Election> {
  const { config, log } = term;
  const proof = new LeadLease({
    url: config['database.url'],
    candidate: standing.candidate,
    ttlMs: config['cluster.lease_ttl'],
  });
  const run: Lead = (lost, started) => lead({ ...term, epoch: proof.epoch, lost }, active, started);
  const election = await openElection(config, { ...standing, proof, lead: run }, log);
  active.leader = () => election.leader();
  return election;
}

/** The address under which clients reach this coordinator and no other. */
function reachableUrl({ 'cluster.advertise_host': host }: Config, bound: string): string {
  const url = new URL(bound);
  if (host !== '') return `${url.protocol}//${host.includes(':') ? `[${host}]` : host}:${url.port}`;
  return ['0.0.0.0', '[::]'].includes(url.hostname) ? '' : bound;
}

type MetricParts = {
  readonly sessions: SessionServices;
  readonly workload: WorkloadFile;
  readonly history: { readonly waiting: number };
  readonly fileLists: ByteBudget;
  readonly metadataBytes: () => number;
};

const activeMetrics = (
  active: ActiveTerm,
  { sessions, workload, history, fileLists, metadataBytes }: MetricParts,
): QueryMetrics =>
  queryMetrics({
    leading: () => (active.open === undefined ? 0 : 1),
    running: () => active.term?.admission.running ?? 0,
    queued: () => active.term?.admission.queued ?? 0,
    workersLive: () => active.term?.pool.liveCount() ?? 0,
    pairsApart: () => active.term?.pool.pairs.apart.length ?? 0,
    workersKnown: () => active.term?.pool.states().length ?? 0,
    sessions: () => sessions.store.size,
    workloadValid: () => (workload.problem === null ? 1 : 0),
    historyWaiting: () => history.waiting,
    metadataCacheBytes: metadataBytes,
    fileListBytes: () => fileLists.bytes,
  });

/** The statement whose record it is. */
const statementOf = (row: StoredRow): [key: QueryKey, recordId: string] => [
  { tenant: tenantId(row.tenant_id), principal: principalId(row.user_id), queryId: queryId(row.query_id) },
  row.record_id,
];

/** Ends all that a principal runs, or that runs by a sign-in. */
const endStatements = (active: ActiveTerm) => ({
  principal: (principal: string): void => active.term?.registry.cancelOf(principalId(principal), STOPPED),
  signIn: (signIn: string): void => active.term?.registry.cancelSignIn(signIn, SIGNED_OUT),
});
const SIGNED_OUT = new SkeinError('QUERY_CANCELLED', 'the sign-in by which the statement ran has ended');
const STOPPED = new SkeinError(
  'QUERY_CANCELLED',
  'the user or service account, or its identity provider, was suspended or dropped',
);

/** Opens the coordinator's schema in Postgres and migrates it. */
async function openDatabase({ config, log, stack }: Parts): Promise<Kysely<HistoryDatabase>> {
  const options = { url: config['database.url'], poolMax: config['database.pool_max'], log };
  // Migrations of a large history take their time.
  const migrating = openHistoryDatabase(options);
  try {
    await migrateHistory(migrating);
  } finally {
    await migrating.destroy();
  }
  return stack.adopt(openHistoryDatabase({ ...options, statementMsMax: STATEMENT_MS_MAX }), (open) => open.destroy());
}

const openCatalog = (
  config: Config,
  addresses: AddressList,
  { security, readers }: { readonly security: ChannelSecurity; readonly readers: WorkPool },
): CatalogClient =>
  catalogClient({
    addresses,
    security,
    cacheBytes: Math.floor(config['coordinator.metadata_cache_bytes'] / 2),
    readers,
  });

const tableReader = (
  config: Config,
  parts: { readonly catalog: CatalogClient; readonly manifestCaches: LruManifestCache; readonly readers: WorkPool },
): TableReader => {
  const { catalog, manifestCaches, readers: pool } = parts;
  const fileListBytesMax = config['coordinator.file_list_bytes_max'];
  return new RenewingReader(new GuardedTableReader({ openStorage, manifestCaches, pool, fileListBytesMax }), catalog);
};

function startSessions(config: Config, catalog: CatalogClient): SessionServices {
  const store = new SessionStore({
    idleMs: config['coordinator.session_idle'],
    sessionsMax: config['coordinator.sessions_max'],
    perPrincipalMax: config['coordinator.sessions_per_principal_max'],
    preparedBytesMax: config['coordinator.prepared_bytes_max'],
    preparedBytesPerPrincipalMax: config['coordinator.prepared_bytes_per_principal_max'],
    clock: systemClock,
  });
  const names = new NameFinder({
    catalog,
    defaultCatalog: config['bootstrap.catalog'],
    defaultSchema: config['bootstrap.namespace'],
  });
  return { store, names, catalog, encoded: new EncodedBlocks(), connections: new ClientConnections() };
}
