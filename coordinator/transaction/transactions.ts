import { ByteBudget } from '#shared/byte-budget.ts';
import { SkeinError } from '#shared/error.ts';
import { tenantId, type TenantId } from '#shared/id.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import { sessionText, type SessionKey } from '../session/session-store.ts';
import type { WriteJournal } from '../write/write-journal.ts';
import { Transaction, type InnerStatement, type SessionMark } from './transaction.ts';
import type { TransactionStore } from './transaction-store.ts';

type Options = {
  readonly catalog: CatalogClient;
  readonly journal: WriteJournal;
  readonly store: TransactionStore;
  readonly log: Logger;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly memoryBytes: number;
  readonly perPrincipalMax: number;
  /** Time for which a session that does not send ROLLBACK is kept from statements outside of its failed transaction. */
  readonly idleMs: number;
  /** Called when a transaction has left its session. */
  readonly onEnd: (session: SessionKey, transaction: Transaction, isCommitted: boolean) => void;
};

type Begin = { readonly mayWrite: boolean; readonly begun: SessionMark };

/** The state of a transaction that has failed before it begins: it holds nothing. */
const NO_TENANT = tenantId('');
const NO_MARK: SessionMark = { state: null, cursors: 0 };

type Entry = {
  readonly transaction: Transaction;
  /** Null for one of an earlier coordinator. */
  readonly session: SessionKey | null;
  readonly principal: string;
  timer: NodeJS.Timeout;
};

/**
 * The transactions of all sessions. One that is open for too long fails, and stays with its session until ROLLBACK, because a statement that
 * was meant for it must not be committed by itself. For the same reason the sessions of a coordinator that died find theirs failed here.
 */
export class Transactions implements AsyncDisposable {
  readonly #options: Options;
  readonly #open = new Map<string, Entry>();
  readonly #memory: ByteBudget;

  constructor(options: Options) {
    this.#options = options;
    this.#memory = new ByteBudget(options.memoryBytes);
  }

  /** Has the transactions of earlier coordinators fail. @throws when Postgres does not answer */
  async resume(ending: readonly number[] = []): Promise<void> {
    const sessions = await this.#options.store.takeOver(ending);
    for (const session of sessions) {
      const transaction = this.#new({ tenant: NO_TENANT, mayWrite: false, begun: NO_MARK });
      this.#open.set(session, { transaction, session: null, principal: '', timer: this.#forgetLater(session) });
      await transaction.fail(new SkeinError('TRANSACTION_FAILED', 'the coordinator that it ran in has ended'));
    }
  }

  /** The transaction that a session is in. */
  find(session: SessionKey): Transaction | undefined {
    return this.#open.get(sessionText(session))?.transaction;
  }

  /** @throws NO_TRANSACTION */
  require(session: SessionKey): Transaction {
    const transaction = this.find(session);
    if (transaction === undefined) throw new SkeinError('NO_TRANSACTION', 'the session is in no transaction');
    return transaction;
  }

  /** @throws IN_TRANSACTION, NOT_SUPPORTED, QUEUE_FULL, CATALOG_UNAVAILABLE */
  async begin(session: SessionKey, { mayWrite, begun }: Begin): Promise<void> {
    if (session.kind !== 'named') {
      throw new SkeinError('NOT_SUPPORTED', 'transactions need a session: send the header X-Skein-Session');
    }
    const text = sessionText(session);
    if (this.#open.has(text)) throw new SkeinError('IN_TRANSACTION', 'the session is in a transaction already');
    const principal = JSON.stringify([session.tenant, session.principal]);
    const count = this.#open
      .values()
      .filter((entry) => entry.principal === principal)
      .toArray().length;
    if (count >= this.#options.perPrincipalMax) {
      throw new SkeinError('QUEUE_FULL', `you have ${count} open transactions, as many as a user may`);
    }
    const { timeoutMs } = this.#options;
    const transaction = this.#new({ tenant: session.tenant, mayWrite, begun });
    const timer = setTimeout(() => void this.#timeOut(text, transaction), timeoutMs).unref();
    this.#open.set(text, { transaction, session, principal, timer });
    try {
      await this.#options.store.add(text);
    } catch (error) {
      this.#forget(text);
      throw error;
    }
  }

  /** Commits, with this. @throws NO_TRANSACTION; TRANSACTION_FAILED, TRANSACTION_BUSY: then it stays as it is; and what `work` throws */
  async commit(
    session: SessionKey,
    statement: InnerStatement,
    work: (transaction: Transaction) => Promise<void>,
  ): Promise<void> {
    const transaction = this.require(session);
    transaction.requireReady();
    let isCommitted = false;
    try {
      await transaction.runLast(statement, () => work(transaction));
      isCommitted = true;
    } finally {
      transaction.tables.end();
      await this.#remove(sessionText(session), isCommitted);
    }
  }

  /** Rolls back; without a transaction nothing happens. */
  async rollBack(session: SessionKey): Promise<void> {
    const transaction = this.find(session);
    if (transaction === undefined) return;
    await transaction.stop(new SkeinError('QUERY_CANCELLED', 'the transaction was rolled back'));
    await this.#remove(sessionText(session));
  }

  /** An open transaction is rolled back by the next coordinator. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const { timer } of this.#open.values()) clearTimeout(timer);
    this.#open.clear();
  }

  #new(of: Begin & { readonly tenant: TenantId }): Transaction {
    const { catalog, journal, bytesMax } = this.#options;
    return new Transaction({ catalog, journal, bytesMax, memory: this.#memory, ...of });
  }

  async #timeOut(session: string, transaction: Transaction): Promise<void> {
    const { timeoutMs } = this.#options;
    await transaction.stop(
      new SkeinError('TRANSACTION_TIMEOUT', `the transaction was open for more than ${timeoutMs} ms`),
    );
    const entry = this.#open.get(session);
    // It may have been committed meanwhile.
    if (entry?.transaction === transaction) entry.timer = this.#forgetLater(session);
  }

  #forgetLater(session: string): NodeJS.Timeout {
    return setTimeout(() => void this.#remove(session), this.#options.idleMs).unref();
  }

  async #remove(session: string, isCommitted = false): Promise<void> {
    this.#forget(session, isCommitted);
    await this.#options.store.remove(session).catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'a transaction that has ended stays noted');
    });
  }

  #forget(session: string, isCommitted = false): void {
    const entry = this.#open.get(session);
    if (entry === undefined) return;
    clearTimeout(entry.timer);
    this.#open.delete(session);
    if (entry.session !== null) this.#options.onEnd(entry.session, entry.transaction, isCommitted);
  }
}
