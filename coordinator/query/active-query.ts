import type { Clock } from '#shared/clock.ts';
import { cutText } from '#shared/cut-text.ts';
import { SkeinError } from '#shared/error.ts';
import { maskSecrets } from '#shared/mask-secrets.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import { PRIORITIES, type WorkClass } from '../workload/work-class.ts';
import type { Destination, QueuePlace } from '../workload/admission.ts';
import { classOfType, plansQueries, type Classification } from '../workload/classify.ts';
import type { QueryType } from '../statement/query-type.ts';
import {
  historyRow,
  isOpen,
  type HistoryRow,
  type MakeProfile,
  type QueryFacts,
  type Recorded,
  type RecordedBy,
} from '../history/history-record.ts';
import type { RunView } from '../scheduler/run-progress.ts';
import { redactError, redactMessage, type RedactedStatement } from '../statement/redact-statement.ts';
import type { LiveQuery, LiveState } from '../operation/live-query.ts';
import type { LiveStatement, QueryKey } from './query-registry.ts';
import type { RunningRequest } from './query-service.ts';
import { next, type QueryEvent, type QueryState, type Work } from '../history/query-state.ts';
import { FIRST_HOLD, nextHold } from './hold.ts';
import { costsOf, followed, NO_RUNS } from './followed-runs.ts';
import { StatementProfile } from '../profile/statement-profile.ts';

/** Takes the record of a statement that has begun, started or ended, and its class; null = it has none yet. */
export type Recorder = (statement: Recorded & Pick<LiveStatement, 'key'>, workClass: WorkClass | null) => void;

type ActiveQueryOptions = {
  readonly request: RunningRequest;
  readonly recordedBy: RecordedBy;
  /** Longest profile that its record has; 0 = none. */
  readonly profileBytesMax: number;
  /** Somebody wants to know how it ran, whether its record tells or not. */
  readonly isTraced: boolean;
  readonly clock: Clock;
  readonly record: Recorder;
  readonly onEnded: (row: HistoryRow, workClass: WorkClass | null) => void;
};

/** The error of a statement that was not answered in its time. */
export const timedOut = (timeoutMs: number): SkeinError =>
  new SkeinError('QUERY_TIMEOUT', `the query ran longer than its timeout of ${timeoutMs} ms`);

const classTimedOut = (timeoutMs: number, workClass: WorkClass): SkeinError =>
  new SkeinError('QUERY_TIMEOUT', `the query ran longer than the ${timeoutMs} ms of its class, ${workClass}`);

/** Longest text of a statement in a list, because a list has many. */
const LISTED_SQL_BYTES_MAX = 4_096;

/** One statement from its arrival to its end: its state, its history record, and the signal that stops it. */
export class ActiveQuery implements LiveStatement, Recorded {
  readonly key: QueryKey;
  readonly signIn: string | undefined;
  /** The number of the connection that it has come by; undefined = its protocol has none. */
  readonly backendPid: number | undefined;
  /** Follows the statement's queries. */
  readonly profile: StatementProfile;
  readonly #abort = new AbortController();
  readonly #options: ActiveQueryOptions;
  #facts: QueryFacts;
  #state: QueryState;
  #timer: NodeJS.Timeout | undefined;
  #hold = FIRST_HOLD;
  #runTimer: NodeJS.Timeout | undefined;
  #waiting: () => QueuePlace | null = () => null;
  readonly #onGone: () => void;
  #redacted: RedactedStatement = { text: '', secrets: null };
  /** Made once: to cut a statement of megabytes takes milliseconds, and a list may have many. */
  #listedSql = '';
  #runs = NO_RUNS;
  /** Its record, once it has ended. */
  #lastRow: HistoryRow | null = null;

  constructor(options: ActiveQueryOptions) {
    this.#options = options;
    const { request, clock } = options;
    const { tenant, sub: principal, sid } = request.caller.claims;
    this.signIn = sid;
    this.backendPid = request.backendPid;
    this.key = { tenant, principal, queryId: request.queryId };
    const queuedAtMs = clock.nowMs();
    this.#facts = {
      recordId: newUuidV7(queuedAtMs),
      queryId: request.queryId,
      sql: '',
      principal: request.caller.claims.sub,
      username: request.caller.claims.preferred_username,
      tenant: request.caller.claims.tenant,
      queryType: 'unknown',
      source: request.source === null ? null : maskSecrets(request.source),
      resourceGroup: '/root',
      priority: PRIORITIES.interactive,
      classification: null,
    };
    this.#state = { kind: 'queued', queuedAtMs };
    this.profile = new StatementProfile({
      bytesMax: options.profileBytesMax,
      isTraced: options.isTraced,
      elapsedMs: () => this.elapsedMs(),
      nowMs: () => clock.nowMs(),
      queuedAtMs,
    });
    this.#onGone = () => this.#stop(request.clientGone.reason);
    if (request.clientGone.aborted) this.#onGone();
    request.clientGone.addEventListener('abort', this.#onGone, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The statement without the values of secrets. */
  get redactedSql(): string {
    return this.#redacted.text;
  }

  /** An error of the statement as logs keep it. */
  redacted(error: SkeinError): SkeinError {
    return redactError(error, this.#redacted);
  }

  get state(): QueryState {
    return this.#state;
  }

  /** Sets the redacted text that history may keep; before this call the statement has no record. */
  received(redacted: RedactedStatement): void {
    this.#redacted = redacted;
    this.#listedSql = cutText(redacted.text, LISTED_SQL_BYTES_MAX);
    this.#facts = { ...this.#facts, sql: redacted.text };
    this.#record();
  }

  /** Whether values of the statement are not kept with its text: those of its parameters, and secrets. */
  get hidesValues(): boolean {
    return this.#options.request.parameters !== null || this.#redacted.secrets?.length !== 0;
  }

  /** Keeps no message of the statement that may hold one of another text's secrets: that of a prepared statement. */
  mask({ secrets }: RedactedStatement): void {
    const known = this.#redacted.secrets;
    this.#redacted = { ...this.#redacted, secrets: known === null || secrets === null ? null : [...known, ...secrets] };
  }

  /** Returns the time since the request arrived, in ms. */
  elapsedMs(): number {
    return this.#options.clock.monotonicMs() - this.#options.request.arrivedMs;
  }

  /** Follows a run of the query, which replaces an earlier one; `rows` counts those that it has given to the client. */
  follow(view: RunView, rows: () => number): void {
    this.#runs = followed(this.#runs, view, rows);
    this.profile.runs(view);
  }

  /** Whether a task may have run more than once: an attempt that was given up may go on for a while. */
  get mayHaveRetried(): boolean {
    return this.#runs.count > 1 || this.#runs.view.progress.retries > 0;
  }

  get liveState(): LiveState {
    if (this.signal.aborted) return 'cancelling';
    return this.#state.kind === 'queued' ? 'queued' : 'running';
  }

  live(): LiveQuery {
    const { recordId: _recordId, ...facts } = this.#facts;
    const waiting = this.#waiting();
    return {
      ...facts,
      resourceGroup: waiting?.resourceGroup ?? facts.resourceGroup,
      sql: this.#listedSql,
      state: this.liveState,
      queuedAtMs: this.#state.queuedAtMs,
      startedAtMs: this.#state.kind === 'queued' ? null : this.#state.startedAtMs,
      elapsedMs: this.elapsedMs(),
      rowsProduced: this.#runs.rows(),
      progress: this.#runs.view.progress,
      waiting,
    };
  }

  profileNow(): string | null {
    return this.profile.now(this.#facts);
  }

  cancel(reason: SkeinError): boolean {
    return this.#stop(reason);
  }

  /** @returns whether this has stopped it */
  #stop(reason: unknown): boolean {
    const before = this.#hold;
    this.#hold = nextHold(before, { kind: 'stop', reason });
    if (this.#hold === before) return false;
    this.#abort.abort(reason);
    return true;
  }

  /** Whether it has begun to commit. */
  get commits(): boolean {
    return this.#hold.kind === 'committing';
  }

  /**
   * Called before a commit is sent: from now on neither a cancel, nor the timeout, nor a client that leaves stops the statement, because its
   * answer would not say how the commit ended. @throws the reason of a stop that came before
   */
  beginCommit(): void {
    this.signal.throwIfAborted();
    this.#hold = nextHold(this.#hold, { kind: 'commit' });
    clearTimeout(this.#timer);
    clearTimeout(this.#runTimer);
    this.#options.request.clientGone.removeEventListener('abort', this.#onGone);
  }

  /** Id of its history record. */
  get recordId(): string {
    return this.#facts.recordId;
  }

  /** Type of the statement, which routing rules match. */
  get queryType(): string {
    return this.#facts.queryType;
  }

  /**
   * The statement is of this type, which is routed there: `priority` is that of its rule, if it gives one. Its class is known once a query
   * is planned, and one that plans none runs from now on.
   */
  begins(queryType: QueryType, { resourceGroup, priority }: Destination): void {
    const classification = classOfType(queryType);
    const own = PRIORITIES[classification?.workClass ?? 'interactive'];
    this.describe({ queryType, resourceGroup, priority: priority ?? own, classification });
    if (!plansQueries(queryType))
      this.#state = next(this.#state, { kind: 'started', atMs: this.#options.clock.nowMs() });
  }

  describe(facts: Partial<Pick<QueryFacts, 'queryType' | 'resourceGroup' | 'priority' | 'classification'>>): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  /** The statement has `timeoutMs` from its request's arrival to its end, waiting and planning included; an earlier limit is void. */
  limit(timeoutMs: number): void {
    clearTimeout(this.#timer);
    this.#hold = nextHold(this.#hold, { kind: 'limit', limitMs: timeoutMs });
    this.#timer = setTimeout(() => this.#stop(timedOut(timeoutMs)), timeoutMs - this.elapsedMs());
  }

  /** The query's class; null before it is planned. */
  get classification(): Classification | null {
    return this.#facts.classification;
  }

  /** Tells why the query waits for its place, and where in the queue; null once it runs. One that waits is in the lists with its group. */
  followQueue(waiting: () => QueuePlace | null): void {
    this.#waiting = waiting;
    if (waiting() !== null) this.#record();
  }

  /**
   * The query has `timeoutMs` from the start of its execution; an earlier such limit is void. `replacesDefault`: neither the request nor the
   * session has set a timeout, so that the class's alone counts from now on.
   */
  limitRun(timeoutMs: number, workClass: WorkClass, replacesDefault: boolean): void {
    if (this.commits) return;
    if (replacesDefault) {
      clearTimeout(this.#timer);
      this.#hold = nextHold(this.#hold, { kind: 'limit', limitMs: Infinity });
    }
    clearTimeout(this.#runTimer);
    const startedAtMs = this.#state.kind === 'running' ? this.#state.startedAtMs : this.#options.clock.nowMs();
    const leftMs = startedAtMs + timeoutMs - this.#options.clock.nowMs();
    this.#runTimer = setTimeout(() => this.#stop(classTimedOut(timeoutMs, workClass)), Math.max(1, leftMs));
  }

  /** Returns the time that is left of the limit, in ms. */
  leftMs(): number {
    return Math.max(0, this.#hold.limitMs - this.elapsedMs());
  }

  started(): void {
    this.#apply({ kind: 'started', atMs: this.#options.clock.nowMs() });
  }

  completed(done: Work): void {
    this.#apply({ kind: 'completed', atMs: this.#options.clock.nowMs(), ...done });
  }

  /**
   * Returns the error that the client sees. For a stopped statement it is the reason of the stop, not an error that followed from it.
   * @param rowsProduced rows that the client's sink has taken
   */
  failed(thrown: unknown, rowsProduced: number): SkeinError {
    const error = SkeinError.of(this.signal.aborted ? this.signal.reason : thrown);
    if (!this.#hold.endsLater) this.#fails(error, rowsProduced);
    return error;
  }

  #fails(error: SkeinError, rowsProduced: number): void {
    this.#apply({ kind: 'failed', atMs: this.#options.clock.nowMs(), error, rowsProduced, ...costsOf(this.#runs) });
  }

  /** The statement is answered with an error before it is known how it ends: it runs, for its record, until `settled`. */
  endLater(): void {
    this.#hold = nextHold(this.#hold, { kind: 'answered' });
  }

  /** Ends a statement that was answered before; null = it was completed. */
  settled(error: SkeinError | null): void {
    const atMs = this.#options.clock.nowMs();
    if (error !== null) this.#fails(error, 0);
    else this.#apply({ kind: 'completed', atMs, rowsProduced: 1, bytesScanned: 0, fragments: 0 });
  }

  /** Frees timers and listeners. */
  end(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#runTimer);
    this.#options.request.clientGone.removeEventListener('abort', this.#onGone);
  }

  #apply(event: QueryEvent): void {
    const before = this.#state;
    this.#state = next(before, event);
    if (this.#state === before) return;
    this.#record();
    if (!this.isOpen) this.#options.onEnded(this.row(), this.#workClass);
  }

  get #workClass(): WorkClass | null {
    return this.#facts.classification?.workClass ?? null;
  }

  get isOpen(): boolean {
    return isOpen(this.#state.kind);
  }

  row(): HistoryRow {
    if (this.#lastRow !== null) return this.#lastRow;
    const row = historyRow(this.#facts, this.#state, this.#options.recordedBy);
    const masked = row.error_message && redactMessage(row.error_message, this.#redacted);
    const made = masked === row.error_message ? row : { ...row, error_message: masked };
    if (!this.isOpen) this.#lastRow = made;
    return made;
  }

  profileLater(): MakeProfile | null {
    return this.profile.later(this.#facts);
  }

  #record(): void {
    this.#options.record(this, this.#workClass);
  }
}
