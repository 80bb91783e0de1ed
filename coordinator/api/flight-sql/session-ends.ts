import { hasExpired } from '#shared/authorization/token-claims.ts';
import { sessionText, type SessionKey } from '../../session/session-store.ts';

type Options = {
  readonly nowMs: () => number;
  /** Sessions that are known at once; of one that was forgotten only idle time tells that it has ended. */
  readonly sessionsMax: number;
  readonly intervalMs: number;
  readonly end: (session: SessionKey) => Promise<void>;
};

type Seen = { readonly session: SessionKey; readonly exp: number };

/** Ends sessions with the token by which their last call came. */
export class SessionEnds implements Disposable {
  readonly #options: Options;
  /** The one that was used least recently comes first. */
  readonly #sessions = new Map<string, Seen>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: Options) {
    this.#options = options;
    this.#timer = setInterval(() => void this.sweep(), options.intervalMs).unref();
  }

  /** A call has come in a session, by a token that ends at `exp` (seconds). */
  seen(session: SessionKey, exp: number): void {
    const text = sessionText(session);
    this.#sessions.delete(text);
    this.#sessions.set(text, { session, exp });
    if (this.#sessions.size <= this.#options.sessionsMax) return;
    const [oldest = ''] = this.#sessions.keys();
    this.#sessions.delete(oldest);
  }

  /** Ends the sessions whose tokens no longer hold. */
  async sweep(): Promise<void> {
    const nowMs = this.#options.nowMs();
    const over = [...this.#sessions.values()].filter((seen) => hasExpired(seen, nowMs));
    for (const { session } of over) this.#sessions.delete(sessionText(session));
    await Promise.all(over.map(({ session }) => this.#options.end(session)));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
