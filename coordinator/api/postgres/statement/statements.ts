// long file: one class, the prepared statements and portals of a connection
import { randomUUID } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import { queryId as toQueryId } from '#shared/id.ts';
import { systemClock } from '#shared/clock.ts';
import type { TableRows } from '../../../binding/table-rows.ts';
import type { StatementDescription } from '../../../operation/description.ts';
import type { Parameters } from '../../../statement/parameters.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { preparedStatement, type PreparedStatement } from '../../../session/prepared-statement.ts';
import { must } from '#shared/must.ts';
import type { DoorCursors, StatementRequest } from '../../../query/query-service.ts';
import type { DoorSink } from '../../../sink/result-sink.ts';
import { withoutPrepared, withPrepared, type SessionState } from '../../../session/session.ts';
import type { ConnectionMemory } from '../message/connection-memory.ts';
import { BEGIN, BEGINS, CHANGES, COMMITS, CONTROLS, ENDS, RECOVERS, ROLLBACK, SAVEPOINTS } from './control-words.ts';
import { copyFrom, type CopyConnection } from '../copy/copy-from.ts';
import { CopySink } from '../copy/copy-sink.ts';
import { COPY_DESCRIPTION, type CopyStatement } from '../copy/copy-statement.ts';
import type { MessageStatement } from '../message/message-statement.ts';
import type { PostgresDoor } from '../entry/postgres-door.ts';
import { ReportedSettings, programOf } from '../entry/reported-settings.ts';
import { requireControl } from './require-control.ts';
import { RowsSink } from './rows-sink.ts';
import { commandComplete, warning, type TransactionState } from '../message/server-messages.ts';
import { executeValues } from '../text/execute-values.ts';
import { TextReader } from './text-reader.ts';
import type { Entered } from '../entry/sign-in.ts';
import { controlWord } from '../text/split-statements.ts';
import { LEAVING } from '../entry/idle-watch.ts';
import { aborted, SessionOver, StatementError, WireError } from '../message/wire-error.ts';
import type { WireReader } from '../message/wire-reader.ts';
import type { WireWriter } from '../message/wire-writer.ts';

export type PortalExecution = MessageStatement & {
  readonly parameters: Parameters | null;
  readonly describes: boolean;
  readonly formats: readonly number[];
  /** How it stands among those that are one transaction unless a BEGIN says otherwise: all of a Query, or all up to a Sync. */
  readonly place: 'last of its Query' | 'before Sync' | 'others follow';
};

type Copying = Pick<PortalExecution, 'text' | 'offset' | 'place'>;

/** A statement with the rows that it reads beside its tables. */
type Write = Omit<PortalExecution, 'describes' | 'formats'> & { readonly rows?: TableRows };

/**
 * The statements of one connection, one after the other, and the state of their transaction.
 *
 * Statements up to a Sync, or of one Query, are one transaction. It is begun here, when one that changes rows is not the last of them, and
 * committed at their end; an error rolls it back. COMMIT and ROLLBACK among them end it, and BEGIN makes it one that goes on.
 */
export class Statements {
  readonly #door: PostgresDoor;
  readonly #entered: Entered;
  readonly #reader: WireReader;
  readonly #writer: WireWriter;
  readonly #memory: ConnectionMemory;
  /** The number by which others cancel its statements. */
  readonly #pid: number;
  readonly texts: TextReader;
  /** COPYs from the client that have begun to take its rows. */
  copiesBegun = 0;
  readonly #reported = new ReportedSettings();
  /** As clients see it: in a transaction that was begun here they see none. */
  #state: TransactionState = 'I';
  #isImplicit = false;
  #transactionsEnded = 0;
  #running: AbortController | undefined;

  constructor(
    door: PostgresDoor,
    entered: Entered,
    wire: {
      readonly reader: WireReader;
      readonly writer: WireWriter;
      readonly memory: ConnectionMemory;
      readonly pid: number;
    },
  ) {
    this.#door = door;
    this.#entered = entered;
    this.#reader = wire.reader;
    this.#writer = wire.writer;
    this.#memory = wire.memory;
    this.#pid = wire.pid;
    this.texts = new TextReader(door.texts, entered.session, (work) => this.#abortable(work));
  }

  get state(): TransactionState {
    return this.#state;
  }

  /** Something has failed: a transaction waits for its ROLLBACK; one that was begun here is over. */
  async failed(): Promise<void> {
    if (this.#state === 'T') this.#state = 'E';
    if (this.#isImplicit) await this.#endImplicit('ROLLBACK');
  }

  /** The end of a Query, or a Sync, commits. @throws what COMMIT throws; then nothing of it is done */
  async settle(): Promise<void> {
    if (this.#isImplicit) await this.#endImplicit('COMMIT');
  }

  /** Tells the client settings that it has not been told, or that have changed. */
  reportSettings(): void {
    this.#writer.push(...this.#reported.changed(this.#session, this.#door.config));
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }
  get program(): string {
    return programOf(this.#session, this.#door.config) ?? '';
  }

  /** Cancels the statement that runs, if one does. */
  cancel(reason: string): void {
    this.#running?.abort(new SkeinError('QUERY_CANCELLED', reason));
  }

  /** Says what a statement answers, without running it. @throws StatementError, WireError, SkeinError */
  async describe({ sql, text, offset }: MessageStatement, types: readonly string[]): Promise<StatementDescription> {
    const { caller, session, check } = this.#entered;
    await check();
    const word = controlWord(sql);
    if (this.#state === 'E' && !RECOVERS.has(word)) throw aborted();
    if (word === 'COPY' && (await this.texts.copyOf({ sql, text, offset })) !== null) return COPY_DESCRIPTION;
    const made = await this.texts.withDriverLiterals({ sql, text, offset });
    try {
      return await this.#abortable((clientGone) =>
        this.#door.queries.describe({ caller, session, backendPid: this.#pid, sql: made.text, types, clientGone }),
      );
    } catch (error) {
      throw new StatementError(error, { sql: text, offset, made });
    }
  }

  /** The cursors of the session, which are its portals. */
  get cursors(): DoorCursors {
    const { session, caller } = this.#entered;
    return this.#door.queries.cursors({ session, keeper: caller.claims });
  }

  /** A prepared statement of the session, of Parse or of PREPARE. */
  prepared = (name: string): PreparedStatement | undefined => this.#session.prepared.get(foldIdentifier(name));

  /** @throws TOO_MANY_PREPARED_STATEMENTS */
  keepPrepared(
    name: string,
    {
      sql,
      types,
      description,
      besides,
    }: {
      readonly sql: string;
      readonly types: readonly string[];
      readonly description: StatementDescription | null;
      /** Characters that are kept beside the statement. */
      readonly besides: number;
    },
  ): PreparedStatement {
    const { sessions, config } = this.#door;
    const columns = description?.kind === 'rows' ? description.columns : null;
    const parameters = (description?.parameters ?? []).map((one, i) => ({
      name: one.name,
      isUsed: one.isUsed !== false,
      declared: types[i] || null,
      type: one.type,
    }));
    const kept = preparedStatement({ name: foldIdentifier(name), sql, parameters, columns, besides });
    sessions.store.update(this.#entered.session, (now) => withPrepared(now, kept, config));
    return kept;
  }

  forgetPrepared(name: string): void {
    if (this.prepared(name) === undefined) return;
    this.#door.sessions.store.update(this.#entered.session, (now) => withoutPrepared(now, foldIdentifier(name)));
  }

  /** Transactions that have ended, those that were begun here included. */
  get transactionsEnded(): number {
    return this.#transactionsEnded;
  }

  /** Runs a statement; its rows and its tag go to the client. @throws StatementError, WireError, SkeinError */
  async run({ describes, formats, ...execution }: PortalExecution): Promise<void> {
    await this.#check();
    const word = controlWord(execution.sql);
    if (CONTROLS.has(word)) requireControl(execution);
    if (this.#answersByState(word)) return;
    const copy = word === 'COPY' ? await this.texts.copyOf(execution) : null;
    if (copy !== null) return this.#copy(copy, execution);
    const sink = new RowsSink({ writer: this.#writer, describes, formats });
    await this.#run(execution, sink);
    this.#writer.push(commandComplete(sink.tag));
    this.reportSettings();
  }

  /** Runs COPY: its rows go to the client, or come from it. */
  async #copy(copy: CopyStatement, execution: MessageStatement & Copying): Promise<void> {
    if (copy.direction === 'in') {
      const count = await copyFrom(copy, this.#copying(execution, copy.table.offset));
      this.#writer.push(commandComplete(`COPY ${count}`));
      return;
    }
    const sink = new CopySink(this.#writer, copy.options);
    await this.#run({ ...execution, sql: copy.query, parameters: null }, sink);
    sink.end();
    this.#writer.push(commandComplete(sink.tag));
  }

  /** The connection as COPY FROM STDIN needs it. @param at where the name of its table begins */
  #copying({ text, offset, place }: Copying, at: number): CopyConnection {
    const { caller, session } = this.#entered;
    const { sub: principal } = caller.claims;
    // Statements over its rows have the name of the table at another place.
    const shifted = { text, offset: offset + at - 'INSERT INTO '.length };
    return {
      door: this.#door,
      reader: this.#reader,
      writer: this.#writer,
      memory: this.#memory,
      begins: () => (this.copiesBegun += 1),
      asker: { tenant: session.tenant, principal },
      describe: (sql) => this.describe({ ...shifted, sql }, []),
      abortable: (work) => this.#abortable(work),
      write: (sql, rows) => this.write({ ...shifted, sql, parameters: null, place, rows }),
      query: (sql, rows, sink) => this.#execute({ sql, parameters: null, rows, sink, transaction: null }),
    };
  }

  /** Runs a statement that changes rows; its answer is not sent. @throws WireError, StatementError, SkeinError */
  async write(statement: Write): Promise<void> {
    await this.#check();
    if (this.#state === 'E') throw aborted();
    await this.#run(statement, new RowsSink({ writer: this.#writer, describes: false, formats: [] }));
  }

  /** Runs a statement to its end, and keeps its rows as a cursor. @throws StatementError, WireError, SkeinError */
  async open(name: string, execution: Omit<PortalExecution, 'describes' | 'formats'>): Promise<void> {
    await this.#check();
    if (this.#state === 'E') throw aborted();
    const { cursors } = this;
    const sink = cursors.open(name, execution.sql);
    try {
      await this.#run(execution, sink);
    } catch (error) {
      cursors.close(name);
      throw error;
    }
  }

  /** Sends the next rows of a cursor. @returns whether it may have more @throws WireError, SkeinError */
  async fetch(
    name: string,
    { rows, formats }: { readonly rows: number | 'all'; readonly formats: readonly number[] },
  ): Promise<boolean> {
    await this.#entered.check();
    if (this.#state === 'E') throw aborted();
    const { cursors } = this;
    const shape = must(cursors.find(name), 'the cursor was found before');
    const sink = new RowsSink({ writer: this.#writer, describes: false, formats });
    sink.planned(shape);
    const given = await this.#abortable((signal) => cursors.fetch(name, rows, { sink, signal }));
    if (given === rows) return true;
    this.#writer.push(commandComplete(sink.tag));
    return false;
  }

  /** @throws SessionOver, CATALOG_UNAVAILABLE */
  async #check(): Promise<void> {
    if (this.#state === 'I' && !this.#isImplicit && this.#door.isLeaving()) throw new SessionOver(LEAVING);
    await this.#entered.check();
  }

  async #run({ sql, text, offset, parameters, place, rows }: Write, sink: DoorSink): Promise<void> {
    const word = controlWord(sql);
    const queryId = toQueryId(randomUUID());
    // A failed transaction has nothing to commit.
    const isRollback = this.#state === 'E' && ENDS.has(word);
    const values = word === 'EXECUTE' && !isRollback ? executeValues(sql, this.prepared) : [];
    const made = await this.texts.withDriverLiterals({ sql: isRollback ? 'ROLLBACK' : sql, text, offset }, values);
    try {
      if (place === 'others follow' && this.#state === 'I' && !this.#isImplicit && CHANGES.has(word)) {
        await this.#beginImplicit();
      }
      const given = rows === undefined ? {} : { rows };
      await this.#execute({ sql: made.text, parameters: isRollback ? null : parameters, queryId, sink, ...given });
      if (BEGINS.has(word) || (word === 'ROLLBACK TO' && this.#state === 'E')) this.#state = 'T';
      else if (ENDS.has(word)) this.#ended();
      else if (place === 'last of its Query') await this.settle();
    } catch (error) {
      // A transaction that could not be committed has ended, and one whose BEGIN failed may have begun.
      if (ENDS.has(word) || BEGINS.has(word)) {
        this.#ended();
        await this.#execute(ROLLBACK).catch(() => undefined);
      }
      throw new StatementError(error, { sql: text, offset, queryId, made });
    }
  }

  #execute(statement: Pick<StatementRequest, 'sql' | 'parameters'> & Partial<StatementRequest>): Promise<void> {
    const { caller, session } = this.#entered;
    // Nothing is committed by itself that was meant for a transaction, and nothing waits in one of which the client does not know.
    const own = this.#state !== 'I' || this.#isImplicit ? session : null;
    const transaction = statement.transaction === undefined ? own : statement.transaction;
    return this.#abortable((clientGone) =>
      this.#door.queries.execute({
        queryId: toQueryId(randomUUID()),
        sink: new RowsSink({ writer: this.#writer, describes: false, formats: [] }),
        ...statement,
        caller,
        session,
        transaction,
        backendPid: this.#pid,
        ddlInTransaction: 'commit',
        arrivedMs: systemClock.monotonicMs(),
        timeoutMs: undefined,
        source: programOf(this.#session, this.#door.config),
        traceParent: null,
        clientGone,
      }),
    );
  }

  get #session(): SessionState {
    return this.#door.sessions.store.get(this.#entered.session);
  }

  async #beginImplicit(): Promise<void> {
    try {
      await this.#execute(BEGIN);
    } catch (error) {
      // It may have begun all the same.
      await this.#execute(ROLLBACK).catch(() => undefined);
      throw error;
    }
    this.#isImplicit = true;
  }

  #ended(): void {
    this.#transactionsEnded += 1;
    this.#state = 'I';
    this.#isImplicit = false;
  }

  async #endImplicit(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    this.#isImplicit = false;
    this.#transactionsEnded += 1;
    try {
      await this.#execute({ sql: how, parameters: null });
    } catch (error) {
      // The engine may keep a transaction that it does not commit until it is told to roll back.
      await this.#execute(ROLLBACK).catch(() => undefined);
      if (how === 'COMMIT') throw error;
    }
  }

  /** Postgres warns of statements that do not fit the state of the transaction. @throws WireError in a failed one */
  #answersByState(word: string): boolean {
    if (this.#state === 'E' && !RECOVERS.has(word)) throw aborted();
    if (this.#state === 'T' && BEGINS.has(word)) {
      this.#writer.push(warning('25001', 'there is already a transaction in progress'), commandComplete('BEGIN'));
      return true;
    }
    if (this.#isImplicit && BEGINS.has(word)) {
      // The statements before are part of it.
      this.#isImplicit = false;
      this.#state = 'T';
      this.#writer.push(commandComplete('BEGIN'));
      return true;
    }
    if (this.#isImplicit && SAVEPOINTS.has(word)) {
      throw new WireError('25P01', `${word} can only be used in transaction blocks`);
    }
    if (this.#isImplicit && ENDS.has(word)) {
      this.#writer.push(warning('25P01', 'there is no transaction in progress'));
      return false;
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
