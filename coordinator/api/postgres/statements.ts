import { randomUUID } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import { queryId as toQueryId } from '#shared/id.ts';
import { systemClock } from '#shared/clock.ts';
import type { StatementDescription } from '../../operation/description.ts';
import type { Parameters } from '../../statement/parameters.ts';
import { shownSetting } from '../../session/session.ts';
import type { PostgresDoor } from './postgres-door.ts';
import { RowsSink } from './rows-sink.ts';
import { commandComplete, parameterStatus, warning, type TransactionState } from './server-messages.ts';
import type { Entered } from './sign-in.ts';
import { controlWord } from './split-statements.ts';
import { StatementError, WireError } from './wire-error.ts';
import type { WireWriter } from './wire-writer.ts';

/** A statement, the text of the message that has it, and where it begins there. */
export type MessageStatement = { readonly sql: string; readonly text: string; readonly offset: number };

export type PortalExecution = MessageStatement & {
  readonly parameters: Parameters | null;
  readonly describes: boolean;
  readonly formats: readonly number[];
};

const ENDS: ReadonlySet<string> = new Set(['COMMIT', 'END', 'ROLLBACK', 'ABORT']);
/** What a failed transaction takes. */
const RECOVERS: ReadonlySet<string> = new Set([...ENDS, 'ROLLBACK TO']);
const COMMITS: ReadonlySet<string> = new Set(['COMMIT', 'END']);
const BEGINS: ReadonlySet<string> = new Set(['BEGIN', 'START']);

/** Settings that clients are told, by Postgres' spelling: those that can change. */
const REPORTED = ['TimeZone', 'application_name'] as const;

/** The statements of one connection, one after the other, and the state of their transaction. */
export class Statements {
  readonly #door: PostgresDoor;
  readonly #entered: Entered;
  readonly #writer: WireWriter;
  /** Settings as the client was told them. */
  readonly #told = new Map<string, string>();
  #state: TransactionState = 'I';
  #running: AbortController | undefined;

  constructor(door: PostgresDoor, entered: Entered, writer: WireWriter) {
    this.#door = door;
    this.#entered = entered;
    this.#writer = writer;
  }

  get state(): TransactionState {
    return this.#state;
  }

  /** Something has failed: a transaction waits for its ROLLBACK. */
  failed(): void {
    if (this.#state === 'T') this.#state = 'E';
  }

  /** Tells the client settings that it has not been told, or that have changed. */
  reportSettings(): void {
    const { sessions, config } = this.#door;
    const state = sessions.store.get(this.#entered.session);
    for (const name of REPORTED) {
      const value = shownSetting(state, name, config);
      if (this.#told.get(name) === value) continue;
      this.#told.set(name, value);
      this.#writer.push(parameterStatus(name, value));
    }
  }

  /** Cancels the statement that runs, if one does. */
  cancel(reason: string): void {
    this.#running?.abort(new SkeinError('QUERY_CANCELLED', reason));
  }

  /** Says what a statement answers, without running it. @throws StatementError, WireError, SkeinError */
  async describe({ sql, text, offset }: MessageStatement, types: readonly string[]): Promise<StatementDescription> {
    const { caller, session, check } = this.#entered;
    await check();
    if (this.#state === 'E' && !RECOVERS.has(controlWord(sql))) throw aborted();
    try {
      return await this.#abortable((clientGone) =>
        this.#door.queries.describe({ caller, session, sql, types, clientGone }),
      );
    } catch (error) {
      throw new StatementError(error, { sql: text, offset });
    }
  }

  /** Runs a statement; its rows and its tag go to the client. @throws StatementError, WireError, SkeinError */
  async run({ sql, text, offset, parameters, describes, formats }: PortalExecution): Promise<void> {
    const { caller, session, source, check } = this.#entered;
    await check();
    const word = controlWord(sql);
    if (this.#answersByState(word)) return;
    const sink = new RowsSink({ writer: this.#writer, describes, formats });
    const queryId = toQueryId(randomUUID());
    // A failed transaction has nothing to commit.
    const own = this.#state === 'E' && ENDS.has(word) ? 'ROLLBACK' : sql;
    try {
      await this.#abortable((clientGone) =>
        this.#door.queries.execute({
          caller,
          session,
          ddlInTransaction: 'commit',
          queryId,
          sql: own,
          parameters: own === sql ? parameters : null,
          arrivedMs: systemClock.monotonicMs(),
          timeoutMs: undefined,
          source,
          traceParent: null,
          clientGone,
          sink,
        }),
      );
    } catch (error) {
      // A transaction that could not be committed has ended.
      if (ENDS.has(word)) this.#state = 'I';
      throw new StatementError(error, { sql: text, offset, queryId });
    }
    if (BEGINS.has(word) || word === 'ROLLBACK TO') this.#state = 'T';
    else if (ENDS.has(word)) this.#state = 'I';
    this.#writer.push(commandComplete(sink.tag));
    this.reportSettings();
  }

  /** Postgres warns of statements that do not fit the state of the transaction. @throws WireError in a failed one */
  #answersByState(word: string): boolean {
    if (this.#state === 'E' && !RECOVERS.has(word)) throw aborted();
    if (this.#state === 'T' && BEGINS.has(word)) {
      this.#writer.push(warning('25001', 'there is already a transaction in progress'), commandComplete('BEGIN'));
      return true;
    }
    if (this.#state === 'I' && ENDS.has(word)) {
      const tag = COMMITS.has(word) ? 'COMMIT' : 'ROLLBACK';
      this.#writer.push(warning('25P01', 'there is no transaction in progress'), commandComplete(tag));
      return true;
    }
    return false;
  }

  async #abortable<T>(work: (clientGone: AbortSignal) => Promise<T>): Promise<T> {
    const running = new AbortController();
    this.#running = running;
    try {
      return await work(running.signal);
    } finally {
      this.#running = undefined;
    }
  }
}

const aborted = (): WireError =>
  new WireError('25P02', 'current transaction is aborted, commands ignored until end of transaction block');
