import type { Signal } from '#shared/sql/statement-context.ts';
import type { StorageCredential } from '#shared/storage/credential.ts';
import type { TableName, TableSource } from '../binding/table-source.ts';
import type { ManifestReader } from '#shared/iceberg/write/rewrite-manifests.ts';
import type { TableFiles } from '../binding/metadata-rows.ts';
import type { QueryId } from '#shared/id.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { Caller } from '../auth/authenticate.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import type { Pages } from '../catalog-client/pages.ts';
import type { HistoryEntry, HistoryRequest } from '../history/history-request.ts';
import type { GroupSnapshot } from '../workload/group-snapshot.ts';
import type { LiveQuery } from './live-query.ts';
import type { NameFinder } from '../session/current-names.ts';
import type { SessionState } from '../session/session.ts';
import type { Unload, Unloaded } from './unload.ts';
import type { SessionCursors } from './cursors.ts';
import type { Answer, PagedAnswer, Status } from './answer.ts';
import type { SessionTransactions } from './session-transactions.ts';
import type { Queries } from './queries.ts';
import type { Writes } from './writes.ts';
import type { PreparedStatements } from './prepared-statements.ts';
import type { Outcome } from './outcome.ts';

/** The services and state that a command runs with. */
export interface CommandContext {
  readonly caller: Caller;
  readonly config: Config;
  readonly signal: AbortSignal;
  /** The operator’s, for what is too long for an answer. */
  readonly log: Pick<Logger, 'warn'>;
  /**
   * Called before a change of the catalog is sent: from now on nothing stops the statement, so that its answer says how the change ended.
   * @throws the reason of a stop that came before
   */
  readonly beginCommit: () => void;
  /** The session as it was when the statement began. */
  readonly session: SessionState;
  readonly updateSession: (change: (now: SessionState) => SessionState) => void;
  readonly names: NameFinder;
  readonly catalog: CatalogClient;
  /** The tables that the caller may read. */
  readonly tables: TableSource;
  /** The files that only some snapshots of a table reach. */
  readonly files: Pick<TableFiles, 'unreachable' | 'orphans'> & {
    readonly manifests: (table: CommittedTable) => ManifestReader;
  };
  /** Ids of the writes of all statements that have begun and not ended; their files have them in their paths. */
  readonly openWrites: () => Promise<ReadonlySet<string>>;
  readonly queries: Queries;
  readonly writes: Writes;
  /** Writes the rows of a query as files of a stage. */
  readonly unload: (unload: Unload) => Promise<Unloaded>;
  readonly prepared: PreparedStatements;
  readonly cursors: SessionCursors;
  readonly transactions: SessionTransactions;
  readonly records: Records;
  /** Sends rows in memory, or a status, as the statement's result. */
  readonly answer: (rows: Answer | Status) => Promise<Outcome>;
  /** Sends the number of rows that the statement has changed as its result. */
  readonly answerCount: (count: number) => Promise<Outcome>;
  /** Sends one row of BIGINTs, by the names of their columns, as the statement's result. */
  readonly answerNumbers: (numbers: Readonly<Record<string, number>>) => Promise<Outcome>;
  /** Sends the rows that `Queries.returning` has given to the sink. They are sent as far as the client takes them: the commit is done. */
  readonly answerReturned: (count: number) => Promise<Outcome>;
  /** The same for rows that come in parts; the next part is made when the client has taken the last. */
  readonly answerPages: (rows: PagedAnswer) => Promise<Outcome>;
}

/** The statements and groups that the caller may see. */
interface Records {
  /** The newest first, those that wait or run included, page by page. @throws QUEUE_FULL, QUERY_TIMEOUT, CATALOG_UNAVAILABLE */
  history(asked: HistoryRequest): Pages<HistoryEntry>;
  /** Those that wait or run now, the oldest first. */
  live(limit: number): readonly LiveQuery[];
  /** Cancels one of these. False when there is none that the caller may cancel. @throws INVALID_REQUEST as `cancelQuery` */
  cancel(queryId: QueryId): boolean;
  /** Cancels the statement of a connection, or ends it; null = its own. Does nothing when there is none. @throws FORBIDDEN for another's */
  signal(signal: Signal, pid: number | null): void;
  /** The resource groups that statements of the caller's tenant can reach, each before the groups below it. */
  groups(): readonly GroupSnapshot[];
}

/** The table of a commit, with the right to read its files. */
export type CommittedTable = { readonly name: TableName; readonly credential: StorageCredential };
