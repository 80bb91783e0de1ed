import type { QueryId } from '#shared/id.ts';
import type { TableRows } from '../binding/table-rows.ts';
import type { Caller } from '../auth/authenticate.ts';
import type { CursorOwner } from '../cursor/cursors.ts';
import type { SessionKey } from '../session/session-store.ts';
import type { Kill } from '../quarantine/quarantine.ts';
import type { LiveRequest } from './live-queries.ts';
import type { StatementDescription } from '../operation/description.ts';
import type { LiveQuery } from '../operation/live-query.ts';
import type { LiveList } from './query-registry.ts';
import type { Parameters } from '../statement/parameters.ts';
import type { DoorSink, ResultShape, ResultSink } from '../sink/result-sink.ts';
import type { ResultOrder } from '../operation/result-order.ts';

/** A statement as a protocol's server passes it on. */
export type StatementRequest = {
  readonly caller: Caller;
  readonly session: SessionKey;
  /** The transaction that the statement runs in, of several that a session may have open; null = outside of any. Absent = the session's own. */
  readonly transaction?: SessionKey | null;
  /** The value of `skein.ddl_in_transaction` where the session has set none. Absent = refuse. */
  readonly ddlInTransaction?: 'commit' | 'refuse';
  readonly queryId: QueryId;
  /** The number of the client's connection, by which another one cancels its statements. Absent: its protocol has none. */
  readonly backendPid?: number;
  readonly sql: string;
  /** Values for the parameters of `sql`; null = the request has none. */
  readonly parameters: Parameters | null;
  /** Rows of the result at most; one that has more is cut, and says so. Absent = all. */
  readonly rowLimit?: number;
  /** The order of the rows of a statement that only reads, by columns of its result. Absent = as the statement gives them. */
  readonly orderBy?: readonly ResultOrder[];
  /** Rows that the client has sent; the text has them as `FROM @rows/arrived`. Absent = none. */
  readonly rows?: TableRows;
  /** Arrival of the request's head, in ms of the process's monotonic clock; the timeout counts from it. */
  readonly arrivedMs: number;
  /** Timeout from arrival to answer, in ms; undefined = the session's. */
  readonly timeoutMs: number | undefined;
  /** Source of the statement as the client names it; routing rules match it. */
  readonly source: string | null;
  /** The header `traceparent` of the request, as it came (https://www.w3.org/TR/trace-context/). */
  readonly traceParent: string | null;
  /** Aborts when the client is gone. */
  readonly clientGone: AbortSignal;
  readonly sink: DoorSink;
};

/** A statement that runs: its rows can be made to wait until it has committed. */
export type RunningRequest = StatementRequest & { readonly sink: ResultSink };

/** A statement that is only described. */
export type DescribeRequest = Pick<
  StatementRequest,
  'caller' | 'session' | 'transaction' | 'backendPid' | 'sql' | 'clientGone'
> & {
  readonly types: readonly string[];
};

/** A session as its client looks at it. */
export type SessionView = {
  readonly role: string | null;
  /** Every setting with its value; `isSet`: the session has set it. */
  readonly settings: readonly { readonly name: string; readonly value: string; readonly isSet: boolean }[];
  /** The transaction that it is in; one that has failed takes nothing but ROLLBACK. */
  readonly transaction: { readonly state: 'open' | 'failed'; readonly mayWrite: boolean } | null;
};

/** Cursors of a session, as the portals of a protocol use them. */
export interface DoorCursors {
  /** The rows that a cursor gives; undefined when there is none of this name. */
  find(name: string): Extract<ResultShape, { kind: 'rows' }> | undefined;
  /**
   * A new cursor for the rows of a statement, which is about to run with this sink: it can be read when `execute` has ended well; else `close`
   * it. It ends with the session's transaction, if there is one. @throws CURSOR_EXISTS, TOO_MANY_CURSORS
   */
  open(name: string, sql: string): DoorSink & { fail(thrown: unknown): void };
  /** Gives the next rows, or all that are left, to the sink. @returns how many @throws CURSOR_NOT_FOUND, STORAGE_ERROR */
  fetch(
    name: string,
    rows: number | 'all',
    to: { readonly sink: DoorSink; readonly signal: AbortSignal },
  ): Promise<number>;
  /** Does nothing when there is none. */
  close(name: string): void;
}

/**
 * Statements of all protocols run here. A door authenticates, makes a request, and receives the result in a `DoorSink` of its own; the rest
 * is the same for all: sessions, limits, workload management, history, cancelling, the wait for slow readers.
 */
export interface QueryService {
  /** Runs a statement to its end; the result went to the sink. @throws SkeinError of the catalogue. */
  execute(request: StatementRequest): Promise<void>;
  /**
   * Says what a statement answers and of which types its parameters are, without running it. `types`: those of `$1`, `$2`, ... as far as the
   * client declares them. It leaves no record. @throws SkeinError of the catalogue
   */
  describe(request: DescribeRequest): Promise<StatementDescription>;
  /** The session's timeout, for requests that name none. */
  timeoutMs(session: SessionKey): number;
  /** The session as it is now; one that holds nothing is like a new one. */
  session(session: SessionKey): SessionView;
  /** The cursors of a session that a token may read. */
  cursors(owner: CursorOwner): DoorCursors;
  /** Ends a session with all that it holds; its transaction is rolled back. */
  endSession(session: SessionKey): Promise<void>;
  /** The statements that wait or run now and that the caller may see, the oldest first. */
  live(caller: Caller, filter: LiveRequest): LiveList;
  /** A statement that waits or runs; null when there is none that the caller may see. `owner` as for `cancel`. */
  find(caller: Caller, queryId: QueryId, owner: string | null): LiveQuery | null;
  /**
   * Cancels a statement that waits or runs; false when there is none that the caller may cancel. `owner` is its principal; null = the
   * caller, or if the caller has none of this id, the one principal of the tenant that does.
   * @throws INVALID_REQUEST when several principals have one of this id
   */
  cancel(caller: Caller, queryId: QueryId, owner: string | null): boolean;
  /** The statements of the caller's tenant that are refused, the latest first. */
  quarantined(caller: Caller): readonly Kill[];
  /** Lifts a refusal; false when the tenant has none of this id. */
  lift(caller: Caller, id: string): Promise<boolean>;
}
