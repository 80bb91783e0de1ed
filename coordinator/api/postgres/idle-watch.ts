import { SessionOver } from './wire-error.ts';
import type { WireReader } from './wire-reader.ts';

/** Interval at which it is looked whether those who wait may still be here: a lost right ends a connection within a second. */
const LOOK_MS = 500;

type Watched = {
  readonly reader: WireReader;
  /** @throws SessionOver when the session has ended */
  readonly check: () => Promise<void>;
};

/** Ends connections whose sessions end while they wait for their clients; one that runs a statement learns it before the next. */
export class IdleWatch implements Disposable {
  readonly #watched = new Set<Watched>();
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  add(watched: Watched): Disposable {
    this.#watched.add(watched);
    return { [Symbol.dispose]: () => this.#watched.delete(watched) };
  }

  #look(): void {
    for (const { reader, check } of this.#watched) {
      if (!reader.isWaiting) continue;
      check().catch((error: unknown) => {
        if (error instanceof SessionOver && reader.isWaiting) reader.interrupt(error);
      });
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
