import { randomUUID } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';
import { cutText } from '#shared/cut-text.ts';
import { SkeinError } from '#shared/error.ts';
import { PRIORITIES } from '../admission/classify.ts';
import { historyRow, type HistoryRow, type QueryFacts } from '../history/history-record.ts';
import { NO_PROGRESS, type RunProgress } from '../scheduler/run-progress.ts';
import { redactMessage, type RedactedStatement } from '../statement/redact-statement.ts';
import type { LiveQuery, LiveState } from './live-query.ts';
import type { LiveStatement, QueryKey } from './query-registry.ts';
import type { StatementRequest } from './query-service.ts';
import { next, type QueryEvent, type QueryState } from './query-state.ts';

/** Takes the history records of statements. */
export type Recorder = (row: HistoryRow) => void;

type ActiveQueryOptions = {
  readonly request: StatementRequest;
  readonly epoch: number;
  readonly clock: Clock;
  readonly record: Recorder;
  readonly onEnded: Recorder;
};

/** The error of a statement that was not answered in its time. */
export const timedOut = (timeoutMs: number): SkeinError =>
  new SkeinError('QUERY_TIMEOUT', `the query ran longer than its timeout of ${timeoutMs} ms`);

/** Priority of a statement that is not classified. */
const PRIORITY_NORMAL = PRIORITIES.medium;

/** Longest text of a statement in a list, because a list has many. */
const LISTED_SQL_BYTES_MAX = 4_096;

/** One statement from its arrival to its end: its state, its history record, and the signal that stops it. */
export class ActiveQuery implements LiveStatement {
  readonly key: QueryKey;
  readonly #abort = new AbortController();
  readonly #options: ActiveQueryOptions;
  #facts: QueryFacts;
  #state: QueryState;
  #timer: NodeJS.Timeout | undefined;
  #limitMs = Infinity;
  readonly #onGone: () => void;
  #redacted: RedactedStatement = { text: '', secrets: null };
  /** Made once: to cut a statement of megabytes takes milliseconds, and a list may have many. */
  #listedSql = '';
  #progress: () => RunProgress = () => NO_PROGRESS;
  #rows: () => number = () => 0;

  constructor(options: ActiveQueryOptions) {
    this.#options = options;
    const { request, clock } = options;
    const { tenant, sub: principal } = request.caller.claims;
    this.key = { tenant, principal, queryId: request.queryId };
    this.#facts = {
      recordId: randomUUID(),
      queryId: request.queryId,
      sql: '',
      principal: request.caller.claims.sub,
      username: request.caller.claims.preferred_username,
      tenant: request.caller.claims.tenant,
      queryType: 'unknown',
      source: request.source,
      resourceGroup: '/root',
      priority: PRIORITY_NORMAL,
    };
    this.#state = { kind: 'queued', queuedAtMs: clock.nowMs() };
    this.#onGone = () => this.#abort.abort(request.clientGone.reason);
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
  follow(progress: () => RunProgress, rows: () => number): void {
    this.#progress = progress;
    this.#rows = rows;
  }

  get liveState(): LiveState {
    if (this.signal.aborted) return 'cancelling';
    return this.#state.kind === 'queued' ? 'queued' : 'running';
  }

  live(): LiveQuery {
    const { recordId: _recordId, ...facts } = this.#facts;
    return {
      ...facts,
      sql: this.#listedSql,
      state: this.liveState,
      queuedAtMs: this.#state.queuedAtMs,
      startedAtMs: this.#state.kind === 'queued' ? null : this.#state.startedAtMs,
      elapsedMs: this.elapsedMs(),
      rowsProduced: this.#rows(),
      progress: this.#progress(),
    };
  }

  cancel(reason: SkeinError): boolean {
    if (this.signal.aborted) return false;
    this.#abort.abort(reason);
    return true;
  }

  describe(facts: Partial<Pick<QueryFacts, 'queryType' | 'resourceGroup' | 'priority'>>): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  /** The statement has `timeoutMs` from its request's arrival to its end, waiting and planning included; an earlier limit is void. */
  limit(timeoutMs: number): void {
    clearTimeout(this.#timer);
    this.#limitMs = timeoutMs;
    this.#timer = setTimeout(() => this.#abort.abort(timedOut(timeoutMs)), timeoutMs - this.elapsedMs());
  }

  /** Returns the time that is left of the limit, in ms. */
  leftMs(): number {
    return Math.max(0, this.#limitMs - this.elapsedMs());
  }

  started(): void {
    this.#apply({ kind: 'started', atMs: this.#options.clock.nowMs() });
  }

  completed(done: { readonly rowsProduced: number; readonly bytesScanned: number; readonly fragments: number }): void {
    this.#apply({ kind: 'completed', atMs: this.#options.clock.nowMs(), ...done });
  }

  /** Returns the error that the client sees. For a stopped statement it is the reason of the stop, not an error that followed from it. */
  failed(thrown: unknown): SkeinError {
    const error = SkeinError.of(this.signal.aborted ? this.signal.reason : thrown);
    this.#apply({ kind: 'failed', atMs: this.#options.clock.nowMs(), error });
    return error;
  }

  /** Frees timers and listeners. */
  end(): void {
    clearTimeout(this.#timer);
    this.#options.request.clientGone.removeEventListener('abort', this.#onGone);
  }

  #apply(event: QueryEvent): void {
    const before = this.#state;
    this.#state = next(before, event);
    if (this.#state === before) return;
    const row = this.#record();
    if (this.#state.kind !== 'running') this.#options.onEnded(row);
  }

  #record(): HistoryRow {
    const full = historyRow(this.#facts, this.#state, this.#options.epoch);
    const row = {
      ...full,
      error_message: full.error_message && redactMessage(full.error_message, this.#redacted),
    };
    this.#options.record(row);
    return row;
  }
}
