import { SessionOver, SyncLost } from '../message/wire-error.ts';
import type { WireReader } from '../message/wire-reader.ts';

/** Interval at which it is looked whether those who wait may still be here: a lost right ends a connection within a second. */
const LOOK_MS = 500;

type Watched = {
  readonly reader: WireReader;
  /** @throws SessionOver when the session has ended */
  readonly check: () => Promise<void>;
  readonly isInTransaction: () => boolean;
};

type Options = {
  /** Time for which a connection may wait for its client outside of a transaction; 0 = any. */
  readonly idleMs: number;
  /** Time for which it may wait for the rest of a message or of a COPY, which holds memory and place on disk meanwhile; 0 = any. */
  readonly stallMs: number;
  /** The lead is handed over: connections outside of a transaction end. */
  readonly isLeaving: () => boolean;
};

export const LEAVING = 'this coordinator hands over to another one';

/** Ends connections whose sessions end while they wait for their clients; one that runs a statement learns it before the next. */
export class IdleWatch implements Disposable {
  readonly #watched = new Set<Watched>();
  readonly #options: Options;
  readonly #timer: NodeJS.Timeout;

  constructor(options: Options) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  add(watched: Watched): Disposable {
    this.#watched.add(watched);
    return { [Symbol.dispose]: () => this.#watched.delete(watched) };
  }

  /** Connections that are in a transaction. */
  get inTransaction(): number {
    return this.#watched
      .values()
      .filter(({ isInTransaction }) => isInTransaction())
      .toArray().length;
  }

  #look(): void {
    const { idleMs, stallMs, isLeaving } = this.#options;
    for (const { reader, check, isInTransaction } of this.#watched) {
      if (!reader.isWaiting) continue;
      if (stallMs > 0 && reader.isWithin && reader.waitedMs >= stallMs) reader.interrupt(STALLED);
      else if (!isInTransaction()) {
        if (isLeaving()) reader.interrupt(new SessionOver(LEAVING));
        else if (idleMs > 0 && reader.waitedMs >= idleMs) reader.interrupt(IDLE);
      }
      check().catch((error: unknown) => {
        if (error instanceof SessionOver && reader.isWaiting) reader.interrupt(error);
      });
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

const IDLE = new SyncLost('57P05', 'the connection was idle for too long (coordinator.postgres_idle_timeout)');
const STALLED = new SyncLost(
  '57P05',
  'the rest of a message or of a COPY did not come (coordinator.postgres_stall_timeout)',
);
