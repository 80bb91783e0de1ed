import type { ConnectionState } from '../../session/client-connections.ts';
import { ConnectionMemory } from './message/connection-memory.ts';
import { Extended } from './statement/extended.ts';
import { InsertBatch } from './statement/insert-batch.ts';
import type { PostgresDoor } from './entry/postgres-door.ts';
import * as messages from './message/server-messages.ts';
import type { Entered } from './entry/sign-in.ts';
import { Statements } from './statement/statements.ts';
import {
  aborted,
  errorFields,
  protocolViolation,
  SessionOver,
  StatementError,
  SyncLost,
  WireError,
} from './message/wire-error.ts';
import type { MessageBody, WireReader } from './message/wire-reader.ts';
import type { WireWriter } from './message/wire-writer.ts';

/** Bytes of a message beside its statement. */
const BESIDE_BYTES = 64 * 1024;

const OID_BYTES = 4;

/** Messages that are answered in turn with an error's rest: after it they are skipped to the next Sync. */
const EXTENDED: ReadonlySet<string> = new Set(['P', 'B', 'D', 'E', 'C']);

/** Messages that a client sends during a COPY, but for the rows. */
const COPIED: ReadonlySet<string> = new Set(['c', 'f']);
/** Messages that mean nothing during a COPY. */
const NOTHING_IN_COPY: ReadonlySet<string> = new Set(['S', 'H']);
/** Messages before which executions that wait for others run. */
const ENDS_BATCH: ReadonlySet<string> = new Set(['S', 'H', 'Q', 'P', 'F']);

/** Serves one client who has signed in, until it leaves. */
export class Connection implements Disposable {
  readonly #door: PostgresDoor;
  readonly #reader: WireReader;
  readonly #writer: WireWriter;
  readonly #statements: Statements;
  readonly #extended: Extended;
  readonly #memory: ConnectionMemory;
  #isSkipping = false;

  constructor(
    door: PostgresDoor,
    entered: Entered,
    wire: { readonly reader: WireReader; readonly writer: WireWriter },
    pid: number,
  ) {
    const { config } = door;
    this.#door = door;
    this.#reader = wire.reader;
    this.#writer = wire.writer;
    this.#memory = new ConnectionMemory(door.bodies, entered.session.tenant);
    this.#statements = new Statements(door, entered, { ...wire, memory: this.#memory, pid });
    this.#extended = new Extended(this.#statements, {
      writer: wire.writer,
      inserts: new InsertBatch(door, this.#statements, { tenant: entered.session.tenant, memory: this.#memory }),
      portalsMax: config['coordinator.cursors_max'],
      memory: this.#memory,
    });
  }

  cancel(reason: string): void {
    this.#statements.cancel(reason);
  }

  get isInTransaction(): boolean {
    return this.#statements.state !== 'I';
  }

  get state(): ConnectionState {
    if (this.#statements.isRunning) return 'active';
    const { state } = this.#statements;
    return state === 'I' ? 'idle' : state === 'T' ? 'idle in transaction' : 'idle in transaction (aborted)';
  }

  /** The program as the client names it now; empty = not at all. */
  get program(): string {
    return this.#statements.program;
  }

  /** Tells the client settings that it has not been told, or that have changed. */
  reportSettings(): void {
    this.#statements.reportSettings();
  }

  /** Resolves when the client has left. @throws WireError, SkeinError for what ends the connection */
  async serve(): Promise<void> {
    this.#writer.push(messages.readyForQuery('I'));
    await this.#writer.flush();
    let message = await this.#next();
    while (message !== undefined && message.type !== 'X') {
      await this.#reader.giveWay();
      // Execute answers nothing before a Sync or a Flush, and whether others follow it says how it runs.
      const early = message.type === 'E' && !this.#isSkipping ? await this.#next() : null;
      if (early === undefined) return;
      const { copiesBegun } = this.#statements;
      await this.#answer(message.type, message.body, early?.type === 'S');
      this.#memory.give(message.body.length);
      message = early ?? (await this.#next());
      // As Postgres has it: the Sync behind an Execute came during its COPY; another one follows the rows.
      const isCopied = early !== null && copiesBegun !== this.#statements.copiesBegun;
      if (isCopied && NOTHING_IN_COPY.has(early.type)) message = await this.#next();
    }
  }

  [Symbol.dispose](): void {
    this.#memory[Symbol.dispose]();
  }

  #next(): ReturnType<WireReader['message']> {
    return this.#reader.message(this.#door.config['coordinator.statement_bytes_max'] + BESIDE_BYTES, this.#memory);
  }

  async #answer(type: string, body: MessageBody, isBeforeSync: boolean): Promise<void> {
    if (type === 'S') {
      if (!this.#isSkipping) await this.#step(type, body, true);
      if (!this.#isSkipping) await this.#settle();
      this.#isSkipping = false;
      this.#extended.synced();
      await this.#ready();
    } else if (type === 'Q') {
      // As Postgres has it: a query that was sent behind what has failed is not run.
      if (!this.#isSkipping) await this.#step(type, body, false);
      if (this.#isSkipping) return;
      this.#extended.queried();
      await this.#query(body);
      await this.#settle();
      this.#extended.synced();
      await this.#ready();
    } else if (type === 'F') {
      if (!this.#isSkipping) await this.#step(type, body, false);
      if (this.#isSkipping) return;
      await this.#call(body);
      await this.#ready();
    } else if (type === 'H') {
      if (!this.#isSkipping) await this.#step(type, body, isBeforeSync);
      await this.#writer.flush();
    } else if (COPIED.has(type)) {
      // As Postgres has it: these were sent before the client knew of an error.
    } else if (EXTENDED.has(type)) {
      if (!this.#isSkipping) await this.#step(type, body, isBeforeSync);
    } else {
      throw protocolViolation(`there is no message ${JSON.stringify(type)} here`);
    }
  }

  async #step(type: string, body: MessageBody, isBeforeSync: boolean): Promise<void> {
    const extended = this.#extended;
    try {
      // A client who asks and does not read waits, as one of Postgres does.
      if (this.#writer.isFull) {
        await extended.runWaiting('others follow');
        await this.#writer.flush();
      }
      if (ENDS_BATCH.has(type)) await extended.runWaiting(isBeforeSync ? 'before Sync' : 'others follow');
      if (type === 'P') await extended.parse(body);
      else if (type === 'B') await extended.bind(body);
      else if (type === 'D') await extended.describe(body);
      else if (type === 'E') await extended.execute(body, isBeforeSync ? 'before Sync' : 'others follow');
      else if (type === 'C') extended.close(body);
    } catch (thrown) {
      const error = await extended.failed(thrown);
      this.#isSkipping = true;
      await this.#fail(error);
      await this.#writer.flush();
    }
  }

  /** The simple protocol: one statement after the other, until one fails. */
  async #query(body: MessageBody): Promise<void> {
    try {
      const text = body.text();
      body.end();
      const parts = await this.#statements.texts.split(text);
      if (parts.length === 0) this.#writer.push(messages.emptyQuery());
      for (const [i, { sql, offset }] of parts.entries()) {
        const place = i === parts.length - 1 ? 'last of its Query' : 'others follow';
        await this.#reader.giveWay();
        if (this.#writer.isFull) await this.#writer.flush();
        if (await this.#extended.beforeStatement({ sql, text, offset }, place)) continue;
        await this.#statements.run({ sql, text, offset, parameters: null, formats: [], describes: true, place });
      }
    } catch (error) {
      await this.#fail(error);
    }
  }

  /** A call of a function by its number, as drivers make them for large objects: there are no functions that are called so. */
  #call(body: MessageBody): Promise<void> {
    if (this.#statements.state === 'E') return this.#fail(aborted());
    const number = body.length < OID_BYTES ? 0 : body.int32() >>> 0;
    return this.#fail(new WireError('42883', `function with OID ${number} does not exist`));
  }

  /** Commits what was not yet. */
  async #settle(): Promise<void> {
    try {
      await this.#statements.settle();
    } catch (error) {
      await this.#fail(error);
    }
  }

  /** @throws SessionOver, which ends the connection */
  async #fail(thrown: unknown): Promise<void> {
    if (thrown instanceof SessionOver || thrown instanceof SyncLost) throw thrown;
    await this.#statements.failed();
    if (!(thrown instanceof StatementError) && !(thrown instanceof WireError)) {
      this.#door.log.debug({ err: thrown }, 'a message failed');
    }
    this.#writer.push(messages.errorResponse('ERROR', errorFields(thrown)));
  }

  async #ready(): Promise<void> {
    this.#writer.push(messages.readyForQuery(this.#statements.state));
    await this.#writer.flush();
  }
}
