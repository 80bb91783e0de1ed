import { ByteBudget } from '#shared/byte-budget.ts';
import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { CursorMove, CursorName } from '../operation/cursors.ts';
import { covers, type Keeper } from '../result/keeper.ts';
import { KeptResult, type KeptBatch } from '../result/kept-result.ts';
import { readRows, type RowRange } from '../result/read-rows.ts';
import { sessionText, type SessionKey } from '../session/session-store.ts';
import type { DoorSink, ResultShape } from '../sink/result-sink.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { goesForward, moveCursor } from './move-cursor.ts';

export type CursorsOptions = {
  /** Cursors of one session. */
  readonly perSessionMax: number;
  /** Those of one principal, in all of its sessions. */
  readonly perPrincipalMax: number;
  /** Bytes of one, of all (those of one tenant have half at most), and of all in memory: the rest lies on disk. */
  readonly bytesMax: number;
  readonly bytesInAllMax: number;
  readonly memoryBytesMax: number;
  readonly folder: string;
  /** Time without a use after which a cursor outside of a transaction ends, unless a connection holds its session. */
  readonly idleMs: number;
  readonly isHeldSession: (session: SessionKey) => boolean;
};

export type NewCursor = CursorName & {
  readonly sql: string;
  readonly canScroll: boolean;
  readonly isHeld: boolean;
  /** The transaction with which it ends; null = none. */
  readonly transaction: Transaction | null;
};

/** A session, and the token of a statement in it: another one of the same principal may have fewer rights. */
export type CursorOwner = { readonly session: SessionKey; readonly keeper: Keeper };

type Cursor = Omit<NewCursor, 'transaction'> & {
  readonly session: SessionKey;
  readonly keeper: Keeper;
  readonly result: KeptResult;
  /** Greater than those of all that were opened before. */
  readonly number: number;
  transaction: Transaction | null;
  /** 0 = before the first row, n = on the n-th, one more than there are = behind the last. */
  position: number;
  timer: NodeJS.Timeout | undefined;
};

type Held = {
  readonly cursors: Map<string, Cursor>;
  /** The batch that was read last, of one cursor: the next rows often lie in it, too. */
  last: { readonly of: Cursor; readonly batch: KeptBatch } | undefined;
};

type RowsShape = Extract<ResultShape, { kind: 'rows' }>;

/** Rows that a cursor has passed. */
type FetchedRows = {
  readonly shape: RowsShape;
  readonly count: number;
  /** Gives them to a door. @throws STORAGE_ERROR, the reason of the signal */
  readonly into: (sink: DoorSink, signal: AbortSignal) => Promise<void>;
};

/**
 * The cursors of all sessions, and the portals of the Postgres wire, which are the same. Their rows are kept (`result`): a statement runs to
 * its end when it is opened, and gives back its place, its slots and its transaction.
 *
 * A cursor is there for tokens with all scopes of the one that has opened it. A change of the principal's rights, which raises its session
 * epoch, ends it.
 */
export class Cursors implements Disposable {
  readonly #options: CursorsOptions;
  readonly #budget: ByteBudget;
  readonly #memory: ByteBudget;
  readonly #sessions = new Map<string, Held>();
  readonly #byTransaction = new Map<Transaction, Set<Cursor>>();
  /** How many each principal has. */
  readonly #principals = new Map<string, number>();
  #count = 0;

  constructor(options: CursorsOptions) {
    this.#options = options;
    this.#budget = new ByteBudget(options.bytesInAllMax);
    this.#memory = new ByteBudget(options.memoryBytesMax);
  }

  /** Bytes that are kept. */
  get bytes(): number {
    return this.#budget.bytes;
  }

  /** A number that tells cursors that are opened from now on from those that are there. */
  get mark(): number {
    return this.#count;
  }

  /**
   * A new cursor, whose statement is about to run with this sink. It can be read once that has ended well; otherwise `close` it.
   * @throws CURSOR_EXISTS, TOO_MANY_CURSORS
   */
  open(owner: CursorOwner, asked: NewCursor): KeptResult {
    const { session, keeper } = owner;
    const { bytesMax, folder } = this.#options;
    const text = sessionText(session);
    const name = foldIdentifier(asked.name);
    this.#at(owner, name);
    const held = this.#sessions.get(text) ?? { cursors: new Map<string, Cursor>(), last: undefined };
    if (held.cursors.has(name)) {
      const message = `cursor ${JSON.stringify(asked.name.slice(0, 200))} exists already`;
      throw new SkeinError('CURSOR_EXISTS', message, { position: asked.position });
    }
    this.#requireRoom(session, held);
    const result = new KeptResult({
      sql: asked.sql,
      folder,
      bytesMax,
      owner: session.tenant,
      budget: this.#budget,
      memory: this.#memory,
      makeRoom: () => false,
      limits: LIMITS,
    });
    this.#count += 1;
    const cursor = { ...asked, name, session, keeper, result, number: this.#count, position: 0, timer: undefined };
    held.cursors.set(name, cursor);
    this.#sessions.set(text, held);
    this.#counted(session, 1);
    if (asked.transaction === null) this.#renew(cursor);
    else this.#within(asked.transaction).add(cursor);
    return result;
  }

  /** The result's columns, and the tag of its statement; undefined when there is no such cursor. */
  find(owner: CursorOwner, name: string): RowsShape | undefined {
    const cursor = this.#at(owner, name);
    const shape = cursor?.result.hasEnded === true ? cursor.result.known : undefined;
    return shape?.kind === 'rows' ? shape : undefined;
  }

  /** @throws CURSOR_NOT_FOUND */
  shape(owner: CursorOwner, named: CursorName): RowsShape {
    return this.find(owner, named.name) ?? this.#missing(named);
  }

  /** Moves. @returns the rows that it passes @throws CURSOR_NOT_FOUND, CURSOR_FORWARD_ONLY */
  fetch(owner: CursorOwner, named: CursorName, move: CursorMove): FetchedRows {
    const cursor = this.#require(owner, named);
    const shape = this.shape(owner, named);
    const range = this.#step(cursor, named, move);
    const batchAt = (row: number): Promise<KeptBatch | undefined> => this.#batchAt(cursor, row);
    return {
      shape,
      count: range.end - range.first,
      into: async (sink, signal) => {
        for await (const batch of readRows({ shape, encoding: sink.encoding, batchAt }, range)) {
          signal.throwIfAborted();
          await sink.batch(batch);
        }
      },
    };
  }

  /** Moves. @returns the rows that `fetch` would give @throws CURSOR_NOT_FOUND, CURSOR_FORWARD_ONLY */
  move(owner: CursorOwner, named: CursorName, move: CursorMove): number {
    const { first, end } = this.#step(this.#require(owner, named), named, move);
    return end - first;
  }

  /** @throws CURSOR_NOT_FOUND */
  close(owner: CursorOwner, named: CursorName): void {
    this.#end(this.#require(owner, named, 'also one that runs'));
  }

  closeIfOpen(owner: CursorOwner, name: string): void {
    const cursor = this.#at(owner, name);
    if (cursor !== undefined) this.#end(cursor);
  }

  /** Ends those that the token may read. */
  closeAll({ session, keeper }: CursorOwner): void {
    for (const cursor of this.#all(session)) if (covers(keeper, cursor.keeper)) this.#end(cursor);
  }

  /** A session has ended. */
  sessionEnded(session: SessionKey): void {
    for (const cursor of this.#all(session)) this.#end(cursor);
  }

  /** A transaction has ended: what it has opened does, too, but for cursors WITH HOLD of one that has committed. */
  transactionEnded(transaction: Transaction, isCommitted: boolean): void {
    const cursors = this.#byTransaction.get(transaction) ?? [];
    this.#byTransaction.delete(transaction);
    for (const cursor of cursors) {
      cursor.transaction = null;
      if (isCommitted && cursor.isHeld) this.#renew(cursor);
      else this.#end(cursor);
    }
  }

  /** A transaction has gone back to a savepoint: what was opened behind its mark ends. */
  wentBack(transaction: Transaction, mark: number): void {
    for (const cursor of this.#byTransaction.get(transaction) ?? []) {
      if (cursor.number > mark) this.#end(cursor);
    }
  }

  [Symbol.dispose](): void {
    for (const { cursors } of this.#sessions.values()) for (const cursor of cursors.values()) this.#end(cursor);
  }

  #step(cursor: Cursor, { name, position }: CursorName, move: CursorMove): RowRange {
    const step = moveCursor(move, { rows: cursor.result.rows, position: cursor.position });
    if (!cursor.canScroll && !goesForward(move, cursor.position, step)) {
      const message = `cursor ${JSON.stringify(name.slice(0, 200))} only goes forward: DECLARE it with SCROLL`;
      throw new SkeinError('CURSOR_FORWARD_ONLY', message, { position });
    }
    cursor.position = step.position;
    if (cursor.transaction === null) this.#renew(cursor);
    return step.range;
  }

  async #batchAt(cursor: Cursor, row: number): Promise<KeptBatch | undefined> {
    const held = this.#sessions.get(sessionText(cursor.session));
    const last = held?.last?.of === cursor ? held.last.batch : undefined;
    if (last !== undefined && row >= last.firstRow && row < last.firstRow + last.rows) return last;
    const batch = await cursor.result.batchAt(row);
    if (held !== undefined && batch !== undefined) held.last = { of: cursor, batch };
    return batch;
  }

  #all(session: SessionKey): readonly Cursor[] {
    return this.#sessions.get(sessionText(session))?.cursors.values().toArray() ?? [];
  }

  /** The cursor, if the token may read it; one from before a change of the principal's rights ends. */
  #at({ session, keeper }: CursorOwner, name: string): Cursor | undefined {
    const cursor = this.#sessions.get(sessionText(session))?.cursors.get(foldIdentifier(name));
    if (cursor === undefined || covers(keeper, cursor.keeper)) return cursor;
    if (cursor.keeper.sess_epoch < keeper.sess_epoch) this.#end(cursor);
    return undefined;
  }

  /** @throws TOO_MANY_CURSORS */
  #requireRoom(session: SessionKey, { cursors }: Held): void {
    const { perSessionMax, perPrincipalMax } = this.#options;
    if (cursors.size >= perSessionMax) {
      const message = `the session has ${perSessionMax} cursors (coordinator.cursors_max): CLOSE some`;
      throw new SkeinError('TOO_MANY_CURSORS', message);
    }
    if ((this.#principals.get(principalText(session)) ?? 0) >= perPrincipalMax) {
      const message = `you have ${perPrincipalMax} cursors (coordinator.cursors_per_principal_max): CLOSE some`;
      throw new SkeinError('TOO_MANY_CURSORS', message);
    }
  }

  #counted(session: SessionKey, more: 1 | -1): void {
    const principal = principalText(session);
    const count = (this.#principals.get(principal) ?? 0) + more;
    if (count === 0) this.#principals.delete(principal);
    else this.#principals.set(principal, count);
  }

  #require(owner: CursorOwner, named: CursorName, which?: 'also one that runs'): Cursor {
    const cursor = this.#at(owner, named.name);
    if (cursor !== undefined && (cursor.result.hasEnded || which !== undefined)) return cursor;
    return this.#missing(named);
  }

  #missing({ name, position }: CursorName): never {
    const message = `cursor ${JSON.stringify(name.slice(0, 200))} does not exist`;
    throw new SkeinError('CURSOR_NOT_FOUND', message, { position });
  }

  #within(transaction: Transaction): Set<Cursor> {
    const found = this.#byTransaction.get(transaction) ?? new Set();
    this.#byTransaction.set(transaction, found);
    return found;
  }

  #renew(cursor: Cursor): void {
    clearTimeout(cursor.timer);
    const { idleMs, isHeldSession } = this.#options;
    const look = (): void => {
      if (isHeldSession(cursor.session)) this.#renew(cursor);
      else this.#end(cursor);
    };
    cursor.timer = setTimeout(look, idleMs).unref();
  }

  #end(cursor: Cursor): void {
    clearTimeout(cursor.timer);
    cursor.timer = undefined;
    const text = sessionText(cursor.session);
    const held = this.#sessions.get(text);
    if (held?.cursors.delete(cursor.name) === true) this.#counted(cursor.session, -1);
    if (held?.last?.of === cursor) held.last = undefined;
    if (held?.cursors.size === 0) this.#sessions.delete(text);
    if (cursor.transaction !== null) {
      const others = this.#byTransaction.get(cursor.transaction);
      others?.delete(cursor);
      if (others?.size === 0) this.#byTransaction.delete(cursor.transaction);
    }
    cursor.result.drop(CLOSED);
  }
}

const principalText = ({ tenant, principal }: SessionKey): string => JSON.stringify([tenant, principal]);

const CLOSED = new SkeinError('QUERY_CANCELLED', 'the cursor was closed');
const LIMITS = {
  one: 'coordinator.cursor_bytes_max',
  all: 'coordinator.cursors_bytes',
  help: 'ask for fewer rows, or read them without a cursor',
} as const;
