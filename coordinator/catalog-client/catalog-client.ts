// long file: one client, with a function for each call of the catalog
import type { CatalogInternalClient } from '#proto/generated/skein/catalog/v1/CatalogInternal.ts';
import type { DroppedList } from '#proto/generated/skein/catalog/v1/DroppedList.ts';
import type { EpochList } from '#proto/generated/skein/catalog/v1/EpochList.ts';
import type { Action, Decision } from '#shared/authorization/action.ts';
import { toPrincipalMessage, type Principal } from '#shared/authorization/principal.ts';
import type { SkeinError } from '#shared/error.ts';
import type { AddressList } from '#shared/grpc/address-list.ts';
import { CallStream } from '#shared/grpc/call-stream.ts';
import { callUnary } from '#shared/grpc/call-unary.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import type { Keyring } from '#shared/keyring.ts';
import { fromServiceError, internalMetadata } from '#shared/grpc/internal-auth.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { COMMIT_OUTCOMES, type CommitOutcome } from '#shared/iceberg/write/commit-writes.ts';
import { parseJson, printJson, type Json, type JsonObject } from '#shared/json.ts';
import { fromKeyMessage } from '#shared/task/bucket-key.ts';
import { fileCredential, storeKeyId } from '#shared/storage/credential.ts';
import { isInBucket, normalizeLocation } from '#shared/storage/location.ts';
import { must } from '#shared/must.ts';
import type { PolicyRequest } from '#shared/policy/policy-request.ts';
import type { PrincipalAnswer, PrincipalRequest } from '#shared/principal/principal-request.ts';
import type { WorkPool } from '#shared/thread/work-pool.ts';
import type { TableLoader, TableName } from '../binding/table-source.ts';
import type { KeyQuestions } from './fresh-key.ts';
import { keyIsReplaced } from './replaced-keys.ts';
import { askedAgain, catalogReads } from './catalog-reads.ts';
import { answerLease } from './lease-wire.ts';
import { LoadedTables, type FoundTable } from './loaded-tables.ts';
import { pages, type Pages } from './pages.ts';
import { RelationLists, type CatalogList, type WantedPlaces } from './relation-lists.ts';
import { stageCatalog, type CatalogCall, type StageCatalog } from './stage-catalog.ts';
import { personCalls, type PersonCalls } from './person-calls.ts';

/** Time that a call to the catalog may take that says nothing else. */
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
/** A catalog that is silent for so long is given up, and the next one is asked; also between calls, so that few statements wait for it. */
const CONNECTION = {
  'grpc.keepalive_time_ms': 1_000,
  'grpc.keepalive_timeout_ms': 2_000,
} as const;
/** Largest answer: many tables' metadata documents in one. */
const MESSAGE_BYTES_MAX = 256 * 2 ** 20;

/** Calls that change nothing. */
const ASKED_AGAIN = /^(List|Get|Find|Vend)/;

/** Names of one page of a list. */
const PAGE_NAMES = 1_000;

/** Changes about tokens that were issued before. */
export type EpochUpdate = {
  readonly epochs: readonly {
    readonly principal: string;
    readonly sessionEpoch: number;
    /** It was suspended or dropped: what it runs ends. */
    readonly stopped: boolean;
  }[];
  /** Sign-ins of people that have ended before their tokens, whose last one is over at `untilMs`. */
  readonly endedSignIns: readonly { readonly id: string; readonly untilMs: number }[];
};

/** The standing of a principal, which holds for as long as its token. */
export type PrincipalStanding = {
  /** Whether it may do each action, by the action's name. */
  readonly decisions: ReadonlyMap<string, Decision>;
  /** The role that `current_role()` answers; null = `public`. */
  readonly defaultRole: string | null;
  /** The catalog in which its sessions start. */
  readonly defaultWarehouse: string | null;
  /** It may set its password, and nothing else. */
  readonly mustChangePassword: boolean;
};

/** The purpose of a list of names: an action, which the catalog allows or refuses. */
type CatalogsFor = Extract<Action, 'catalog.list' | 'catalog.resolve'>;
type NamespacesFor = Extract<Action, 'schema.list' | 'schema.resolve'>;

/**
 * The catalog requests of the coordinator, over the internal gRPC service. A request for a principal is refused with FORBIDDEN when the
 * principal may not do it, and with UNAUTHENTICATED when its tenant has no such principal.
 */
export interface CatalogClient extends KeyQuestions, PersonCalls {
  /** The same catalog, for statements of a term: it makes their changes only while that goes on. @throws NOT_ACTIVE from each of those then */
  inTerm(epoch: number): CatalogClient;
  authorize(principal: Principal): Promise<PrincipalStanding>;
  /** @param moment of `moment`: tables as they were then; absent = as they are at each call */
  tablesFor(principal: Principal, moment?: string): TableLoader;
  /** The folders that a table of this version claims; none when it is gone. */
  ownFolders(principal: Principal, version: string): Promise<readonly string[]>;
  /** The moment of now: it sees every commit that was acknowledged before. */
  moment(): Promise<string>;
  /**
   * Says what a table would be after changes that are not committed. @param transaction as `commitTables`, of one table
   * @throws the errors of the commit, COMMIT_CONFLICT when the table is gone
   */
  previewTable(principal: Principal, transaction: Uint8Array, base: PreviewBase): Promise<FoundTable>;
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
  /** Tables that were dropped, by their ids, from the one behind `after` on. @throws CATALOG_NOT_FOUND, INVALID_REQUEST, FORBIDDEN */
  listDropped(
    principal: Principal,
    catalog: string,
    page: { readonly after: string | undefined; readonly limit: number },
  ): Promise<DroppedList>;
  /**
   * Does an operation of the catalog's REST API that changes something; under one key it happens once. @returns its answer, null for none
   * @throws the operation's errors, CATALOG_UNAVAILABLE: then it may have happened
   */
  runOperation(principal: Principal, key: string, operation: CatalogOperation): Promise<Json>;
  /** `WriteCatalog` for a principal. @throws as `runOperation` */
  commitTables(principal: Principal, key: string, transaction: Uint8Array): Promise<void>;
  abandonCommit(principal: Principal, key: string): Promise<CommitOutcome>;
  /**
   * The tables, views and schemas of a catalog that the principal may list, as they are now; without a right to list schemas there are none.
   * With `places` at least the relations there, and perhaps no schemas. @throws CATALOG_NOT_FOUND
   */
  listCatalog(principal: Principal, catalog: string, signal: AbortSignal, places?: WantedPlaces): Promise<CatalogList>;
  /** The catalogs whose names a statement of the principal may use, as they are now; kept as long as a lease says so, as those lists are. */
  findCatalogs(principal: Principal): Promise<readonly string[]>;
  /**
   * Runs a statement about principals, which is not sent again: neither it nor its answer is kept, because both carry secrets.
   * @throws FORBIDDEN and the errors of the statement; CATALOG_UNAVAILABLE: then it may have happened
   */
  runPrincipalStatement(principal: Principal, statement: PrincipalRequest): Promise<PrincipalAnswer>;
  /** Runs a statement about policies, which is not sent again. @throws as `runPrincipalStatement` */
  runPolicyStatement(principal: Principal, statement: PolicyRequest): Promise<PrincipalAnswer>;
  readonly stages: StageCatalog;
  /** Ends uploads to buckets that were begun and left, of files with `text`, a UUID, in their names. @throws STORAGE_ERROR, NOT_SUPPORTED */
  abortUploads(folders: readonly string[], text: string): Promise<void>;
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
  /** Time that it may take, where that is more than `CALL_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
};

/** `baseVersion` null = the table is created. `version` is that of the staged table. */
type PreviewBase = { readonly name: TableName; readonly baseVersion: string | null; readonly version: string };

export type CatalogClientOptions = {
  readonly addresses: AddressList;
  readonly security: ChannelSecurity;
  readonly cacheBytes: number;
  /** Parse large metadata. */
  readonly readers: WorkPool;
};

export function catalogClient(options: CatalogClientOptions): CatalogClient {
  const { Client: Constructor, definition } = loadService('catalog.proto', 'skein.catalog.v1.CatalogInternal');
  const { security } = options;
  const peer = { address: options.addresses, role: 'catalog' } as const;
  const client = security.dial(Constructor, peer, {
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    ...CONNECTION,
  });
  const watching = security.dial(Constructor, peer, WATCH_CONNECTION);
  const lease = answerLease(watching, security.keyring);
  // A catalog that answers, and reaches no Postgres, is left for the next one.
  const refused = (error: SkeinError, peer: string): void => {
    if (error.code !== 'CATALOG_UNAVAILABLE') return;
    if (!options.addresses.avoid(peer)) return;
    stream.leave();
    // It hears of no revoked token.
    leaveEpochs();
  };
  let leaveEpochs = (): void => undefined;
  const calls = { keyring: security.keyring, lost: 'CATALOG_UNAVAILABLE', refused } as const;
  const call: CatalogCall = (method, request, timeoutMs = CALL_TIMEOUT_MS) => {
    const ask = () => callUnary(client, method, request, { ...calls, timeoutMs });
    return ASKED_AGAIN.test(method) ? askedAgain(ask) : ask();
  };

  const stream: CallStream<CatalogInternalClient> = new CallStream(client, definition, calls);
  const reads = catalogReads(stream);

  const keys = keyCalls(call);
  const lists = new RelationLists(call, lease);
  const tables = new LoadedTables({ ...options, lease, reads, timeoutMs: CALL_TIMEOUT_MS });

  const ofTerm = (term: string): CatalogClient => ({
    inTerm: (epoch) => ofTerm(String(epoch)),
    authorize: (principal) => standingOf(reads, principal),
    tablesFor: (principal, moment) => tables.of(principal, moment),
    ownFolders: async (principal, version) => {
      const request = { principal: toPrincipalMessage(principal), version };
      return (await call('FindFolders', request)).folders;
    },
    moment: async () => (await reads.call('GetMoment', {}, { timeoutMs: CALL_TIMEOUT_MS })).moment,
    previewTable: async (principal, transaction, base) => {
      const request = { principal: toPrincipalMessage(principal), transaction, base_version: base.baseVersion ?? '' };
      return tables.previewed(principal.tenant, base, await call('StageTable', request));
    },
    ...listCalls(call),
    findCatalogs: (principal) => lists.catalogs(principal),
    listCatalog: (principal, catalog, signal, places) => lists.list(principal, catalog, signal, places),
    ...changeCalls(call, term),
    stages: stageCatalog(call, keys),
    ...keys,
    ...personCalls(call),
    signingKeys: async () => (await call('GetSigningKeys', {})).jwks_json,
    watchEpochs: (signal) =>
      watchEpochs(watching, { keyring: security.keyring, signal, onStream: (cancel) => (leaveEpochs = cancel) }),
    get cacheBytes() {
      return tables.cacheBytes;
    },
    close: () => {
      lease.close();
      stream.close();
      watching.close();
    },
  });
  return ofTerm(NO_TERM);
}

async function standingOf(reads: ReturnType<typeof catalogReads>, principal: Principal): Promise<PrincipalStanding> {
  const request = { principal: toPrincipalMessage(principal) };
  const standing = await reads.call('Authorize', request, { timeoutMs: CALL_TIMEOUT_MS });
  return {
    decisions: new Map(
      standing.decisions.map(({ action, allowed, reason }) => [action, allowed ? { allowed } : { allowed, reason }]),
    ),
    defaultRole: standing.default_role || null,
    defaultWarehouse: standing.default_warehouse || null,
    mustChangePassword: standing.must_change_password,
  };
}

/** No term of a coordinator: the catalog checks none. */
const NO_TERM = '0';

type Lists = Pick<CatalogClient, 'listCatalogs' | 'listNamespaces' | 'listTables' | 'listDropped'>;
type Changes = Pick<
  CatalogClient,
  'runOperation' | 'runPrincipalStatement' | 'runPolicyStatement' | 'commitTables' | 'abandonCommit'
>;

const keyCalls = (call: CatalogCall): Pick<CatalogClient, 'storageKey' | 'renewKey' | 'abortUploads'> => ({
  abortUploads: async (folders, text) => {
    const remote = folders.filter((folder) => isInBucket(normalizeLocation(folder)));
    if (remote.length > 0) await call('AbortUploads', { folders: remote, text });
  },
  storageKey: async (tenant, folders, permission) => {
    const { key, file_roots: roots } = await call('VendKey', { folders, writes: permission === 'write', tenant });
    return key === null ? fileCredential(...roots) : fromKeyMessage(key);
  },
  renewKey: async (tenant, credential) => {
    const { reach } = credential;
    if (reach === undefined) return credential;
    const request = { folders: reach.folders, writes: reach.writes, tenant, refused_key_id: storeKeyId(credential) };
    const { key } = await call('VendKey', request);
    keyIsReplaced(credential);
    return fromKeyMessage(must(key, 'a bucket has a key'));
  },
});

const listCalls = (call: CatalogCall): Lists => ({
  listDropped: (principal, catalog, { after = '', limit }) =>
    call('ListDropped', { principal: toPrincipalMessage(principal), catalog, after, limit }),
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
});

const changeCalls = (call: CatalogCall, term: string): Changes => ({
  runOperation: async (principal, key, { id, params, query = {}, body, timeoutMs }) => {
    const request = {
      principal: toPrincipalMessage(principal),
      key,
      operation: id,
      params,
      query,
      body: Buffer.from(body === undefined ? '' : printJson(body)),
      term,
    };
    const reply = await call('RunOperation', request, timeoutMs);
    return reply.body.length === 0 ? null : parseJson(reply.body.toString());
  },
  runPrincipalStatement: async (principal, statement) => {
    const request = {
      principal: toPrincipalMessage(principal),
      statement: Buffer.from(JSON.stringify(statement)),
      term,
    };
    const { answer } = await call('RunPrincipalStatement', request);
    return JSON.parse(answer.toString()) as PrincipalAnswer;
  },
  runPolicyStatement: async (principal, statement) => {
    const request = {
      principal: toPrincipalMessage(principal),
      statement: Buffer.from(JSON.stringify(statement)),
      term,
    };
    const { answer } = await call('RunPolicyStatement', request);
    return JSON.parse(answer.toString()) as PrincipalAnswer;
  },
  commitTables: async (principal, key, transaction) => {
    await call('CommitTables', { principal: toPrincipalMessage(principal), key, transaction, term });
  },
  abandonCommit: async (principal, key) => {
    const { outcome } = await call('AbandonCommit', { principal: toPrincipalMessage(principal), key });
    return must(
      COMMIT_OUTCOMES.find((one) => one === outcome),
      'the catalog says how a commit ended',
    );
  },
});

async function* watchEpochs(
  watching: CatalogInternalClient,
  {
    keyring,
    signal,
    onStream,
  }: {
    readonly keyring: Keyring;
    readonly signal: AbortSignal;
    /** Takes what ends the stream. */
    readonly onStream: (cancel: () => void) => void;
  },
): AsyncGenerator<EpochUpdate> {
  const stream = watching.WatchEpochs({}, internalMetadata(keyring));
  const cancel = (): void => stream.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  onStream(cancel);
  try {
    for await (const message of stream) {
      const { epochs, ended_sign_ins: ended } = message as EpochList;
      yield {
        epochs: epochs.map((e) => ({
          principal: e.principal,
          sessionEpoch: Number(e.session_epoch),
          stopped: e.stopped,
        })),
        endedSignIns: ended.map(({ id, until_ms: untilMs }) => ({ id, untilMs: Number(untilMs) })),
      };
    }
  } catch (error) {
    throw fromServiceError(error, 'CATALOG_UNAVAILABLE');
  } finally {
    signal.removeEventListener('abort', cancel);
    stream.cancel();
  }
}
