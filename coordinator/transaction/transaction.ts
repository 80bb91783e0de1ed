import type { ByteBudget } from '#shared/byte-budget.ts';
import { SkeinError } from '#shared/error.ts';
import type { TenantId } from '#shared/id.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import type { SessionState } from '../session/session.ts';
import type { TableCommit } from '../write/table-commit.ts';
import type { OpenWrite, WriteJournal } from '../write/write-journal.ts';
import { Savepoints } from './savepoints.ts';
import { transactionCatalog } from './transaction-catalog.ts';
import { TransactionTables, type TablesMark } from './transaction-tables.ts';

/** A statement that runs in a transaction. */
export type InnerStatement = { readonly signal: AbortSignal; cancel(reason: SkeinError): boolean };

/** The services that statements of a transaction write with, in place of the coordinator's own. */
export type TransactionWrites = {
  readonly catalog: CatalogClient;
  readonly journal: Pick<WriteJournal, 'begin' | 'newKey'>;
  readonly commits: { run(table: string, commit: TableCommit): Promise<void> };
};

type Options = {
  readonly catalog: CatalogClient;
  readonly journal: WriteJournal;
  readonly mayWrite: boolean;
  readonly bytesMax: number;
  /** Memory for what transactions have changed. */
  readonly memory: ByteBudget;
  readonly tenant: TenantId;
  readonly begun: SessionMark;
};

/** The session of a transaction at its begin or at a savepoint: a rollback brings it back. */
export type SessionMark = {
  /** Null: the transaction is not the session's own, and leaves its settings alone. */
  readonly state: SessionState | null;
  /** Cursors with greater numbers were opened later. */
  readonly cursors: number;
};

/** The work of a transaction up to a savepoint. */
type Mark = {
  readonly tables: TablesMark;
  readonly writes: number;
  readonly bytes: number;
  readonly session: SessionMark;
};

/**
 * The statements of a session between BEGIN and COMMIT or ROLLBACK, one after the other. Each writes its files and leaves its commit here;
 * the catalog is told at COMMIT, of all at once. After an error nothing but ROLLBACK is taken: of it all, or to a savepoint, while there is one.
 */
export class Transaction {
  readonly tables: TransactionTables;
  readonly parts: TransactionWrites;
  readonly #options: Options;
  /** The writes of statements that have ended, whose files wait for the end of the transaction. */
  readonly #writes: OpenWrite[] = [];
  readonly #savepoints = new Savepoints<Mark>();
  #bytes = 0;
  #mayWrite: boolean;
  /** It has been ended from outside, or commits: no savepoint brings it back. */
  #isOver = false;
  #failure: SkeinError | null = null;
  #running: { readonly statement: InnerStatement; readonly ended: Promise<unknown> } | null = null;

  constructor(options: Options) {
    const { catalog, journal, mayWrite, memory } = options;
    this.#options = options;
    this.#mayWrite = mayWrite;
    this.tables = new TransactionTables(catalog, memory);
    this.parts = {
      catalog: transactionCatalog(catalog, this.tables, () => this.#mayWrite),
      journal: {
        begin: async (begun) => this.#held(await journal.begin(begun)),
        // Nobody asks how this commit ended: it goes no further than here.
        newKey: () => Promise.resolve(newUuidV7(Date.now())),
      },
      commits: { run: (_table, commit) => this.#commit(commit) },
    };
  }

  get mayWrite(): boolean {
    return this.#mayWrite;
  }

  /** @throws READ_ONLY_TRANSACTION for one that may not write any more */
  setMode({ mayWrite }: { readonly mayWrite: boolean }): void {
    if (mayWrite && !this.#mayWrite) {
      throw new SkeinError('READ_ONLY_TRANSACTION', 'a transaction that only reads cannot be made one that writes');
    }
    this.#mayWrite = mayWrite;
  }

  /** It takes no statement but ROLLBACK. */
  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  /** It has changed nothing, and takes statements. */
  get isUnchanged(): boolean {
    return (
      this.#failure === null && this.#running === null && this.#writes.length === 0 && this.tables.changed.length === 0
    );
  }

  /** Runs a statement. @throws TRANSACTION_FAILED after an error, TRANSACTION_BUSY beside another statement, and what `work` throws */
  run<T>(statement: InnerStatement, work: () => Promise<T>): Promise<T> {
    return this.#alone(statement, async () => {
      const result = await work();
      // The transaction may have been stopped when the statement could no longer be.
      if (this.#failure !== null) throw this.#failure;
      return result;
    });
  }

  /** Runs the statement that commits; a stop that comes later does not change how it ends. @throws as `run` */
  runLast<T>(statement: InnerStatement, work: () => Promise<T>): Promise<T> {
    return this.#alone(statement, () => {
      this.#isOver = true;
      return work();
    });
  }

  /** The session as it was at the begin. */
  get begun(): SessionMark {
    return this.#options.begun;
  }

  /** @throws TRANSACTION_TOO_LARGE */
  savepoint(name: string, session: SessionMark): void {
    const mark = { tables: this.tables.mark(), writes: this.#writes.length, bytes: this.#bytes, session };
    this.#savepoints.add(name, mark);
  }

  /** @throws SAVEPOINT_NOT_FOUND */
  release(name: string): void {
    this.#savepoints.release(name);
  }

  /**
   * Undoes what came after a savepoint, and takes statements again. @returns the session as it was there
   * @throws TRANSACTION_BUSY, SAVEPOINT_NOT_FOUND: then it has failed; TRANSACTION_FAILED when it was ended from outside
   */
  async rollBackTo(name: string): Promise<SessionMark> {
    if (this.#running !== null && this.#running.statement.signal.aborted) await this.#running.ended;
    if (this.#running !== null || this.#isOver) {
      this.requireReady();
      throw new SkeinError('TRANSACTION_FAILED', 'the transaction has ended. Send ROLLBACK');
    }
    let mark: Mark;
    try {
      mark = this.#savepoints.goBack(name);
    } catch (error) {
      await this.fail(SkeinError.of(error));
      throw error;
    }
    this.#failure = null;
    this.#bytes = mark.bytes;
    this.tables.goBack(mark.tables);
    await Promise.allSettled(this.#writes.splice(mark.writes).map((open) => open.discard()));
    return mark.session;
  }

  /** The writes of its statements, which are the caller's from now on. */
  takeWrites(): readonly OpenWrite[] {
    return this.#writes.splice(0);
  }

  /** @throws TRANSACTION_FAILED, TRANSACTION_BUSY when it cannot take a statement now */
  requireReady(): void {
    if (this.#running !== null && !this.#running.statement.signal.aborted) {
      throw new SkeinError('TRANSACTION_BUSY', 'another statement of the transaction is running');
    }
    if (this.#failure === null && this.#running === null) return;
    const cause = this.#failure === null ? 'was cancelled' : `failed: ${this.#failure.message}`;
    throw new SkeinError('TRANSACTION_FAILED', `a statement of the transaction ${cause}. Send ROLLBACK`);
  }

  async #alone<T>(statement: InnerStatement, work: () => Promise<T>): Promise<T> {
    this.requireReady();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    this.#running = { statement, ended };
    try {
      return await work();
    } catch (error) {
      await this.fail(SkeinError.of(statement.signal.aborted ? statement.signal.reason : error));
      throw error;
    } finally {
      this.#running = null;
      end();
    }
  }

  /** It takes no further statement; what it has done ends, unless a savepoint can bring it back. */
  async fail(error: SkeinError): Promise<void> {
    this.#failure ??= error;
    if (this.#isOver || this.#savepoints.isEmpty) await this.#discard();
  }

  /** Fails the transaction from outside: a statement that runs is stopped, unless it is the COMMIT. */
  async stop(error: SkeinError): Promise<void> {
    this.#isOver = true;
    const running = this.#running;
    if (running !== null && !running.statement.cancel(error)) await running.ended;
    else {
      this.#failure ??= error;
      await running?.ended;
      await this.#discard();
    }
  }

  /** The writes' files go, now and for good. */
  async #discard(): Promise<void> {
    await Promise.allSettled(this.takeWrites().map((open) => open.discard()));
    this.#savepoints.clear();
    this.tables.end();
  }

  async #commit(commit: TableCommit): Promise<void> {
    commit.begin();
    this.#bytes += commit.write.change.counts.bytes;
    await commit.commit([commit], false);
    this.tables.committed(commit, this.#options);
    if (this.#bytes > this.#options.bytesMax) {
      throw new SkeinError(
        'TRANSACTION_TOO_LARGE',
        `the statements of the transaction have written more than ${this.#options.bytesMax} bytes (coordinator.transaction_bytes_max)`,
      );
    }
  }

  #held(open: OpenWrite): OpenWrite {
    return {
      get intent() {
        return open.intent;
      },
      get isNew() {
        return open.isNew;
      },
      usesKey: (key) => open.usesKey(key),
      names: (files, mayHaveRetried) => open.names(files, mayHaveRetried),
      committed: () => void this.#writes.push(open),
      discard: () => open.discard(),
      settle: () => open.settle(),
    };
  }
}
