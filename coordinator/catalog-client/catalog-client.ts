import { LRUCache } from 'lru-cache';
import type { CatalogInternalClient } from '#proto/generated/skein/catalog/v1/CatalogInternal.ts';
import type { EpochList } from '#proto/generated/skein/catalog/v1/EpochList.ts';
import type { LoadedTable as LoadedTableMessage } from '#proto/generated/skein/catalog/v1/LoadedTable.ts';
import type { Action, Decision } from '#shared/authorization/action.ts';
import { toPrincipalMessage, type Principal } from '#shared/authorization/principal.ts';
import { CallStream } from '#shared/grpc/call-stream.ts';
import { callUnary, type ReplyOf, type RequestOf, type UnaryMethod } from '#shared/grpc/call-unary.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { fromServiceError, internalMetadata } from '#shared/grpc/internal-auth.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { parseLargeMetadata } from '#shared/iceberg/parse-large-metadata.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { COMMIT_OUTCOMES, type CommitOutcome } from '#shared/iceberg/write/commit-writes.ts';
import { parseJson, printJson, type Json, type JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { WorkPool } from '#shared/thread/work-pool.ts';
import {
  MISSING_CODES,
  tableKey,
  type LoadedTable,
  type MissingCode,
  type TableLoader,
  type TableName,
} from '../resolver/table-source.ts';
import { readViewDefinition, type ViewDefinition } from '../resolver/view/view-definition.ts';
import { LastAnswers } from './last-answers.ts';
import { answerLease } from './lease-wire.ts';
import { pages, type Pages } from './pages.ts';
import { stageCatalog, type StageCatalog } from './stage-catalog.ts';
import { NO_CREDENTIAL } from '#shared/storage/credential.ts';

/** Time that any call to the catalog may take. */
const CALL_TIMEOUT_MS = 10_000;
/**
 * The streams of epochs and of the lease have a connection of their own, which is given up when a ping is not answered: a change is known
 * within a second.
 */
const WATCH_CONNECTION = {
  'grpc.keepalive_time_ms': 300,
  'grpc.keepalive_timeout_ms': 600,
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 500,
} as const;
/** Largest answer: many tables' metadata documents in one. */
const MESSAGE_BYTES_MAX = 256 * 2 ** 20;
/** A parsed document takes about this many times the bytes of its text. */
const PARSED_FACTOR = 3;

/** Names of one page of a list. */
const PAGE_NAMES = 1_000;

type EpochUpdate = readonly { readonly principal: string; readonly sessionEpoch: number }[];

/** The purpose of a list of names: an action, which the catalog allows or refuses. */
type CatalogsFor = Extract<Action, 'catalog.list' | 'catalog.resolve'>;
type NamespacesFor = Extract<Action, 'schema.list' | 'schema.resolve'>;

/**
 * The catalog requests of the coordinator, over the internal gRPC service. A request for a principal is refused with FORBIDDEN when the
 * principal may not do it, and with UNAUTHENTICATED when its tenant has no such principal.
 */
export interface CatalogClient {
  /** Whether the principal may do each action, by the action's name. Holds for as long as its token. */
  authorize(principal: Principal): Promise<ReadonlyMap<string, Decision>>;
  /** @param moment of `moment`: tables as they were then; absent = as they are at each call */
  tablesFor(principal: Principal, moment?: string): TableLoader;
  /** The moment of now: it sees every commit that was acknowledged before. */
  moment(): Promise<string>;
  /**
   * Says what a table would be after changes that are not committed. @param transaction as `commitTables`, of one table
   * @throws the errors of the commit, COMMIT_CONFLICT when the table is gone
   */
  stageTable(principal: Principal, transaction: Uint8Array, base: StagedBase): Promise<FoundTable>;
  listCatalogs(principal: Principal, action: CatalogsFor): Promise<readonly string[]>;
  /** @throws CATALOG_NOT_FOUND */
  listNamespaces(
    principal: Principal,
    catalog: string,
    action: NamespacesFor,
    /** Only those of this name, without case. */
    name?: string,
  ): Pages<readonly string[]>;
  /** @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND */
  listTables(principal: Principal, catalog: string, namespace: readonly string[], withViews?: boolean): Pages<string>;
  /**
   * Does an operation of the catalog's REST API that changes something; under one key it happens once. @returns its answer, null for none
   * @throws the operation's errors, CATALOG_UNAVAILABLE: then it may have happened
   */
  runOperation(principal: Principal, key: string, operation: CatalogOperation): Promise<Json>;
  /** `WriteCatalog` for a principal. @throws as `runOperation` */
  commitTables(principal: Principal, key: string, transaction: Uint8Array): Promise<void>;
  abandonCommit(principal: Principal, key: string): Promise<CommitOutcome>;
  readonly stages: StageCatalog;
  /** The keys that verify tokens, a JSON Web Key Set. */
  signingKeys(): Promise<string>;
  /** Session epochs: all above 0 at first, then changes; ends with the signal or an error. */
  watchEpochs(signal: AbortSignal): AsyncIterable<EpochUpdate>;
  readonly cacheBytes: number;
  close(): void;
}

/** An operation of the catalog's REST API (`catalog/rest/operations.ts`). */
export type CatalogOperation = {
  /** `operationId` of the specification. */
  readonly id: string;
  /** Parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
};

/** `baseVersion` null = the table is created. `version` is that of the staged table. */
type StagedBase = { readonly name: TableName; readonly baseVersion: string | null; readonly version: string };
type FoundTable = Extract<LoadedTable, { kind: 'found' }>;

type CachedTable = { readonly version: string; readonly metadata: TableMetadata | ViewDefinition };
export type CatalogClientOptions = {
  readonly address: string;
  readonly security: ChannelSecurity;
  readonly cacheBytes: number;
  /** Parse large metadata. */
  readonly readers: WorkPool;
};

export function catalogClient(options: CatalogClientOptions): CatalogClient {
  const { Client: Constructor, definition } = loadService('catalog.proto', 'skein.catalog.v1.CatalogInternal');
  const { security } = options;
  const peer = { address: options.address, role: 'catalog' } as const;
  const client = security.dial(Constructor, peer, {
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.initial_reconnect_backoff_ms': 200,
    'grpc.max_reconnect_backoff_ms': 2_000,
  });
  const watching = security.dial(Constructor, peer, WATCH_CONNECTION);
  const lease = answerLease(watching, security.keyring);
  // The library takes 0 for "no limit".
  const cache = new LRUCache<string, CachedTable>({ maxSize: Math.max(1, options.cacheBytes) });

  const call = <Name extends UnaryMethod<CatalogInternalClient>>(
    method: Name,
    request: RequestOf<CatalogInternalClient, Name>,
    signal?: AbortSignal,
  ): Promise<ReplyOf<CatalogInternalClient, Name>> =>
    callUnary(client, method, request, {
      keyring: security.keyring,
      timeoutMs: CALL_TIMEOUT_MS,
      signal,
      lost: 'CATALOG_UNAVAILABLE',
    });

  const reads = new CallStream(client, definition, { keyring: security.keyring, lost: 'CATALOG_UNAVAILABLE' });

  const keyOf = (tenant: string, name: TableName): string => JSON.stringify([tenant, tableKey(name)]);
  const answers = new LastAnswers(lease, (tenant, name, version) => {
    const known = cache.get(keyOf(tenant, name));
    return known?.version === version ? known.metadata : undefined;
  });

  const loadTables = async (
    principal: Principal,
    moment: string | undefined,
    names: readonly TableName[],
    signal: AbortSignal,
  ): Promise<readonly LoadedTable[]> => {
    if (names.length === 0) return [];
    const { tenant } = principal;
    const keys = names.map((name) => keyOf(tenant, name));
    const known = keys.map((key) => cache.get(key));
    const request = {
      principal: toPrincipalMessage(principal),
      names: names.map((name, i) => ({ ...name, known_version: known[i]?.version ?? '' })),
      moment: moment ?? '',
    };
    const asked = lease.askedAt();
    const reply = await reads.call('LoadTables', request, { signal, timeoutMs: CALL_TIMEOUT_MS });
    const loadTable = async (table: LoadedTableMessage, i: number): Promise<LoadedTable> => {
      const key = must(keys[i], 'one answer for each name');
      const { catalog } = must(names[i], 'one answer for each name');
      const isView = table.status === 'VIEW';
      if (table.status !== 'FOUND' && !isView) {
        if (moment === undefined) cache.delete(key);
        return { kind: 'missing', code: missingCode(table.status) };
      }
      const cached = known[i];
      const what = [catalog, ...table.namespace, table.table].join('.');
      const current =
        cached !== undefined && table.metadata_json === '' && cached.version === table.version
          ? cached
          : {
              version: table.version,
              metadata: isView
                ? readViewDefinition(parseJson(table.metadata_json))
                : await parseLargeMetadata(options.readers, table.metadata_json, {
                    owner: tenant,
                    what: `the metadata of ${what}`,
                    signal,
                  }),
            };
      // Other statements want the table as it is now.
      if (current !== cached && moment === undefined) {
        cache.set(key, current, { size: table.metadata_json.length * PARSED_FACTOR });
      }
      const name = { catalog, namespace: table.namespace, table: table.table };
      const actions = new Set(table.actions);
      if ('representations' in current.metadata) {
        return { kind: 'view', name, version: current.version, view: current.metadata, actions };
      }
      return found(table, { name, version: current.version, metadata: current.metadata });
    };
    const tables = await Promise.all(reply.tables.map(loadTable));
    if (moment === undefined) answers.keep({ principal, names, asked }, tables);
    return tables;
  };

  const stageTable = async (
    principal: Principal,
    transaction: Uint8Array,
    { name, baseVersion, version }: StagedBase,
  ): Promise<FoundTable> => {
    const request = { principal: toPrincipalMessage(principal), transaction, base_version: baseVersion ?? '' };
    const table = await call('StageTable', request);
    const what = `the metadata of ${[name.catalog, ...name.namespace, name.table].join('.')}`;
    const { signal } = new AbortController();
    const owner = principal.tenant;
    const metadata = await parseLargeMetadata(options.readers, table.metadata_json, { owner, what, signal });
    return found(table, { name, version, metadata });
  };

  async function* watchEpochs(signal: AbortSignal): AsyncGenerator<EpochUpdate> {
    const stream = watching.WatchEpochs({}, internalMetadata(security.keyring));
    const cancel = (): void => stream.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      for await (const message of stream) {
        const { epochs } = message as EpochList;
        yield epochs.map((e) => ({ principal: e.principal, sessionEpoch: Number(e.session_epoch) }));
      }
    } catch (error) {
      throw fromServiceError(error, 'CATALOG_UNAVAILABLE');
    } finally {
      signal.removeEventListener('abort', cancel);
      stream.cancel();
    }
  }

  return {
    authorize: async (principal) => {
      const request = { principal: toPrincipalMessage(principal) };
      const { decisions } = await reads.call('Authorize', request, { timeoutMs: CALL_TIMEOUT_MS });
      return new Map(
        decisions.map(({ action, allowed, reason }) => [action, allowed ? { allowed } : { allowed, reason }]),
      );
    },
    tablesFor: (principal, moment) => {
      const load = (names: readonly TableName[], signal: AbortSignal): Promise<readonly LoadedTable[]> =>
        loadTables(principal, moment, names, signal);
      const leasedTables: TableLoader['leasedTables'] = (names) => answers.leased(principal, names);
      return moment === undefined ? { loadTables: load, leasedTables } : { loadTables: load };
    },
    moment: async () => (await reads.call('GetMoment', {}, { timeoutMs: CALL_TIMEOUT_MS })).moment,
    stageTable,
    listCatalogs: async (principal, action) => {
      const request = { principal: toPrincipalMessage(principal), action };
      return (await call('ListCatalogs', request)).names;
    },
    listNamespaces: (principal, catalog, action, name = '') =>
      pages<readonly string[]>(async (after = []) => {
        const request = { principal: toPrincipalMessage(principal), action, catalog, after, limit: PAGE_NAMES, name };
        const { namespaces, more } = await call('ListNamespaces', request);
        return { items: namespaces.map(({ levels }) => levels), more };
      }),
    listTables: (principal, catalog, namespace, withViews = false) =>
      pages<string>(async (after = '') => {
        const asker = toPrincipalMessage(principal);
        const request = { principal: asker, catalog, namespace, after, limit: PAGE_NAMES, with_views: withViews };
        const { names, more } = await call('ListTables', request);
        return { items: names, more };
      }),
    runOperation: async (principal, key, { id, params, query = {}, body }) => {
      const request = {
        principal: toPrincipalMessage(principal),
        key,
        operation: id,
        params,
        query,
        body: Buffer.from(body === undefined ? '' : printJson(body)),
      };
      const reply = await call('RunOperation', request);
      return reply.body.length === 0 ? null : parseJson(reply.body.toString());
    },
    commitTables: async (principal, key, transaction) => {
      await call('CommitTables', { principal: toPrincipalMessage(principal), key, transaction });
    },
    abandonCommit: async (principal, key) => {
      const { outcome } = await call('AbandonCommit', { principal: toPrincipalMessage(principal), key });
      return must(
        COMMIT_OUTCOMES.find((one) => one === outcome),
        'the catalog says how a commit ended',
      );
    },
    stages: stageCatalog(call),
    signingKeys: async () => (await call('GetSigningKeys', {})).jwks_json,
    watchEpochs,
    get cacheBytes() {
      return cache.calculatedSize;
    },
    close: () => {
      lease.close();
      reads.close();
      watching.close();
    },
  };
}

const found = (table: LoadedTableMessage, known: Pick<FoundTable, 'name' | 'version' | 'metadata'>): FoundTable => ({
  kind: 'found',
  ...known,
  allowedRoots: table.allowed_roots,
  actions: new Set(table.actions),
  policies: table.policies,
  policyVersion: table.policy_version,
  // The storage of every root is `file:`, for which the catalog vends nothing.
  credential: NO_CREDENTIAL,
});

const missingCode = (status: string): MissingCode =>
  must(
    MISSING_CODES.find((code) => code === status),
    'a table that was not found says what is missing',
  );
