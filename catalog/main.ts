import { setInterval } from 'node:timers';
import type { AddressInfo } from 'node:net';
import { systemClock, type Clock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { migrateSchema } from '#shared/database/own-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { openChannelSecurity } from '#shared/grpc/channel-security.ts';
import { openCatalogTls } from '#shared/grpc/door-tls.ts';
import { closeGently } from '#shared/http/close-gently.ts';
import type { Logger } from '#shared/log/logger.ts';
import { LruManifestCache } from '#shared/iceberg/manifest-cache.ts';
import type { MemberProcess } from '#shared/membership/member-service.ts';
import { GuardedTableReader } from '#shared/iceberg/table-reader.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { fillFacts } from './commit/fill-facts.ts';
import { expireTables } from './expiry/expire-tables.ts';
import { bootstrap, prepareFirstUser } from './bootstrap.ts';
import { hasTenant } from './store/postgres/tenant-store.ts';
import { KeyedQueue } from './metadata/keyed-queue.ts';
import { LargeDocuments } from './metadata/large-documents.ts';
import type { CatalogContext } from './context.ts';
import { startInternalServer } from './internal/server.ts';
import { CacheLeases } from './lease/cache-leases.ts';
import { forgetExpired } from './purge/forget-expired.ts';
import { EndedSignIns } from './principal/ended-sign-ins.ts';
import { KnownPrincipals } from './principal/known-principals.ts';
import { Issuers } from './issuer/issuers.ts';
import { Bearers } from './principal/bearers.ts';
import { PasswordVerifier } from './principal/verify-password.ts';
import { SignInLog } from './principal/sign-in-log.ts';
import { SessionEpochs } from './principal/session-epochs.ts';
import { Newcomers, newcomerLimits } from '#shared/newcomers/newcomers.ts';
import { readerPool } from '#shared/thread/reader-pool.ts';
import { openSealingKeys } from '#shared/sealing-keys.ts';
import { TokenVerifier } from '#shared/token-verifier.ts';
import { ScanPlanner } from './planning/scan-planner.ts';
import { forgetKeys, purgeDropped } from './purge/purge-dropped.ts';
import { Sweeper } from './purge/sweeper.ts';
import { DelegationLog } from './delegation/delegation-log.ts';
import { KeyAllowance } from './idempotency/key-allowance.ts';
import { createMetrics } from './observe/metrics.ts';
import { ADVERTISED_ENDPOINTS } from './rest/operations.ts';
import { RateLimit } from './token/rate-limit.ts';
import { createServer } from './rest/server.ts';
import { makeRoots, prepareDataDir } from './storage/make-roots.ts';
import { NamedProfiles } from './storage/named-profiles.ts';
import { Storages } from './storage/storages.ts';
import { connectStore, untilAccepted, type Store } from './store/postgres/connect.ts';
import { countParked } from './store/postgres/dropped-table-store.ts';
import { countUses } from './store/postgres/idempotency-store.ts';
import { CATALOG_SCHEMA } from './store/postgres/migrations.ts';
import { sweepStages } from './stage/sweep-stages.ts';
import { leaseStore } from './store/postgres/lease-store.ts';
import { Notifications } from './store/postgres/notifications.ts';
import { underStartupLock } from './store/postgres/startup-lock.ts';
import { SigningKeys } from './token/signing-keys.ts';
import { beginEra } from './store/postgres/list-change-store.ts';
import { adoptRestored } from './store/postgres/table-version-store.ts';
import { TokenIssuer } from './token/token-issuer.ts';
import { Upkeep } from './upkeep/upkeep.ts';
import { WebhookDeliveries } from './webhook/webhook-deliveries.ts';

export type RunningCatalog = {
  /** Base URL of the REST service. */
  readonly url: string;
  /** host:port of the internal gRPC service. */
  readonly internalAddress: string;
  /**
   * The generated administrator password, to be printed once. Set only by the start that created the first user without a configured one.
   */
  readonly generatedAdminPassword?: string;
  close(): Promise<void>;
};

/** Maximum number of commits to one table that wait in this process. */
const COMMITS_WAITING_MAX = 1_000;
/**
 * Bounds of the interval at which the signing key's age is checked, a quarter of its life. The check also loads keys that another catalog
 * process made, which must be served here before they sign.
 */
const ROTATION_CHECK_MIN_MS = 1_000;
const ROTATION_CHECK_MAX_MS = 30_000;

/**
 * Builds the catalog and starts both of its ports. It waits up to 30 s for Postgres; other catalog processes may start on the same database
 * at the same time. Tests pass `at` to crash it at a known point. With `member` it answers operators' calls about the process.
 * @throws START_FAILED, NEWER_DATA, PORT_IN_USE
 */
export async function startCatalog(
  config: Config,
  log: Logger,
  clock: Clock = systemClock,
  at: CatalogContext['at'] = () => undefined,
  member?: MemberProcess,
): Promise<RunningCatalog> {
  prepareDataDir(config, log);
  const security = openChannelSecurity(config, 'catalog', log);
  const profiles = new NamedProfiles(config, log);
  const sealing = openSealingKeys(config, log);
  const closers: (() => Promise<unknown>)[] = [
    () => Promise.resolve(security[Symbol.dispose]()),
    () => Promise.resolve(sealing[Symbol.dispose]()),
  ];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    // Reports a wrong setting before waiting for anything.
    security.serverCredentials(config.internal_host);
    const store = await connectStore(config, log);
    closers.push(() => store.close());
    const generatedAdminPassword = await untilAccepted(log, () => prepareStore(store, { config, log }));
    const context = await buildContext(store, { config, log, clock, at, security, sealing, profiles });
    closers.push(() => context.notifications.close());
    closers.push(() => closeParts(context));
    closers.push(...startBackground(context));
    const rotation = setInterval(() => {
      context.keys.rotate().catch((error: unknown) => log.error({ err: error }, 'the signing key was not rotated'));
      forgetExpired(context).catch((error: unknown) => log.warn({ err: error }, 'expired tokens were not forgotten'));
    }, rotationCheckMs(config)).unref();
    closers.push(() => Promise.resolve(clearInterval(rotation)));

    const internal = await startInternalServer(context, member);
    closers.push(() => internal.close());
    const tls = openCatalogTls(config, log);
    if (tls !== undefined) closers.push(() => Promise.resolve(tls[Symbol.dispose]()));
    const app = createServer(context, tls);
    closers.push(() => closeGently(app));
    // Coordinators have to answer: it ends while the internal port is open.
    closers.push(() => context.leases.close());
    await listen(() => app.listen({ host: config.host, port: config['catalog.port'] }), config);
    const { port } = app.server.address() as AddressInfo;
    const url = `${tls === undefined ? 'http' : 'https'}://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
    log.info({ url, internalAddress: internal.address }, 'catalog ready');
    return {
      url,
      internalAddress: internal.address,
      ...(generatedAdminPassword === undefined ? {} : { generatedAdminPassword }),
      close,
    };
  } catch (error) {
    await close();
    if (error instanceof SkeinError && error.code !== 'INTERNAL_ERROR') throw error;
    throw new SkeinError('START_FAILED', `the catalog did not start: ${(error as Error).message}`, { cause: error });
  }
}

async function closeParts({ metrics, delegationLog, readers, passwords, issuers }: CatalogContext): Promise<void> {
  await readers[Symbol.asyncDispose]();
  await passwords[Symbol.asyncDispose]();
  delegationLog[Symbol.dispose]();
  issuers[Symbol.dispose]();
  metrics[Symbol.dispose]();
}

/** Applies the migrations and, at the first start, bootstraps; resolves to the generated password if there is one. */
function prepareStore(
  store: Store,
  { config, log }: Pick<CatalogContext, 'config' | 'log'>,
): Promise<string | undefined> {
  return underStartupLock(config, async () => {
    const { rows } = await store.pool.query<{ found: boolean }>(
      "select to_regclass('catalog.tenant') is not null as found",
    );
    // A database without tables means a first start: the password is hashed while the migrations run.
    const early = rows[0]?.found === true ? undefined : prepareFirstUser(config);
    await migrateSchema(store.db, CATALOG_SCHEMA);
    await adoptRestored(store.db);
    await beginEra(store.db);
    if (await hasTenant(store.db)) return undefined;
    const user = early ?? prepareFirstUser(config);
    await makeRoots({ log }, await bootstrap(store.db, config, user));
    return user.generatedPassword;
  });
}

/** Starts the background work. @returns how each part of it ends */
function startBackground(context: Awaited<ReturnType<typeof buildContext>>): readonly (() => Promise<unknown>)[] {
  const { sweeper, log } = context;
  const workers = [
    sweeper,
    new Sweeper(context, [expireTables({ ...context, tables: expiryReader(context) })]),
    new Upkeep(context),
    new WebhookDeliveries(context),
    context.signIns,
  ];
  for (const worker of workers) worker.start();
  const filling = new AbortController();
  const filled = fillFacts(context, filling.signal).catch((error: unknown) => {
    log.warn({ err: error }, 'tables and views without facts could not be looked for');
  });
  const endFilling = (): Promise<void> => {
    filling.abort();
    return filled;
  };
  return [...workers.map((worker) => () => worker.close()), endFilling];
}

const verifierOf = (
  keys: SigningKeys,
  { epochs, endedSignIns }: Pick<CatalogContext, 'epochs' | 'endedSignIns'>,
  clock: Clock,
): TokenVerifier =>
  new TokenVerifier({
    keys: ({ kid }) => keys.publicKey(kid),
    epochOf: (principal) => epochs.of(principal),
    hasEnded: (signIn) => endedSignIns.has(signIn),
    nowMs: () => clock.nowMs(),
  });

async function buildContext(
  store: Store,
  parts: Pick<CatalogContext, 'config' | 'log' | 'clock' | 'at' | 'security' | 'sealing' | 'profiles'>,
): Promise<
  CatalogContext & {
    readonly sweeper: Sweeper;
    readonly notifications: Notifications;
  }
> {
  const { config, log, clock } = parts;
  const keys = new SigningKeys(store.db, clock, {
    rotationMs: config['catalog.key_rotation'],
    tokenTtlMaxMs: Math.max(config['catalog.token_ttl_max'], config['catalog.token_ttl']),
  });
  const notifications = new Notifications(config, log);
  const epochs = new SessionEpochs(store.db, notifications);
  const endedSignIns = new EndedSignIns(store.db, notifications, clock);
  const metrics = createMetrics(() => countParked(store.db));
  const leases = openLeases(store, notifications, { config, log, metrics });
  await Promise.all([keys.rotate(), notifications.start()]);
  const readers = readerPool(config, Math.floor(config['catalog.manifest_cache_bytes'] / 2), log);
  const worked = {
    ...parts,
    store,
    storages: new Storages({ db: store.db, sealing: parts.sealing, clock, ...keySettings(config) }),
    delegationLog: new DelegationLog(log),
    issuers: new Issuers({ config, clock, log }),
    readers,
    metrics,
  };
  const verifier = verifierOf(keys, { epochs, endedSignIns }, clock);
  const issuer = new TokenIssuer(keys, clock);
  const passwords = new PasswordVerifier(clock, config['catalog.failed_accounts_per_address_max']);
  const signIns = new SignInLog({ store, clock, log });
  return {
    ...worked,
    sweeper: new Sweeper(worked, [purgeDropped(worked), forgetKeys(worked), sweepStages(worked)]),
    commits: new KeyedQueue(COMMITS_WAITING_MAX),
    documents: new LargeDocuments(),
    planner: new ScanPlanner(worked),
    keys,
    newcomers: new Newcomers(newcomerLimits(config)),
    issuer,
    verifier,
    bearers: new Bearers(
      { ...worked, verifier, issuer, passwords, signIns },
      { lifeMs: config['catalog.token_ttl'], count: (method, outcome) => metrics.signIns.inc({ method, outcome }) },
    ),
    notifications,
    epochs,
    endedSignIns,
    leases,
    principals: new KnownPrincipals(store.db, epochs, endedSignIns),
    passwords,
    signIns,
    ...rateLimits(config, clock),
    keyAllowance: new KeyAllowance(clock, config['catalog.idempotency_keys_per_principal_max'], (principal) =>
      countUses(store.db, principal, new Date(clock.nowMs())),
    ),
    endpoints: ADVERTISED_ENDPOINTS,
  };
}

const rateLimits = (config: Config, clock: Clock): Pick<CatalogContext, 'tokenLimits' | 'scimLimit'> => ({
  tokenLimits: {
    address: new RateLimit(clock, config['catalog.token_rate_address']),
    principal: new RateLimit(clock, config['catalog.token_rate_principal']),
  },
  scimLimit: new RateLimit(clock, config['catalog.scim_rate']),
});

/** Every change waits for the leases of coordinators from here on. */
function openLeases(
  store: Store,
  notifications: Notifications,
  { config, log, metrics }: Pick<CatalogContext, 'config' | 'log' | 'metrics'>,
): CacheLeases {
  const messages = leaseStore(store.pool, notifications, (message) => leases.heard(message));
  const leases = new CacheLeases(messages, config['catalog.cache_lease'], log);
  store.settleBy(async () => {
    const done = metrics.leaseWaitSeconds.startTimer();
    await leases.settle();
    done();
  });
  return leases;
}

/** Reads the manifests of tables whose snapshots expire: rarely, so that it keeps none. */
const expiryReader = ({ readers }: CatalogContext): GuardedTableReader =>
  new GuardedTableReader({ openStorage, manifestCaches: new LruManifestCache(1), pool: readers, fileListBytesMax: 0 });

const rotationCheckMs = (config: Config): number =>
  Math.min(ROTATION_CHECK_MAX_MS, Math.max(ROTATION_CHECK_MIN_MS, config['catalog.key_rotation'] / 4));

async function listen(start: () => Promise<unknown>, config: Config): Promise<void> {
  try {
    await start();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    throw new SkeinError('PORT_IN_USE', `port ${config['catalog.port']} of ${config.host} is in use`, { cause: error });
  }
}

const keySettings = (config: Config): Pick<ConstructorParameters<typeof Storages>[0], 'keyLifeMs' | 'machineUrls'> => ({
  keyLifeMs: config['catalog.credential_time'],
  machineUrls: { google: config['catalog.google_metadata_url'], azure: config['catalog.azure_metadata_url'] },
});
