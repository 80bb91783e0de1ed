import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { SkeinError } from '#shared/error.ts';
import type { Keyring } from '#shared/keyring.ts';
import { openText, sealText } from '#shared/sealed-text.ts';
import type { PersonSignIns } from './person-sign-ins.ts';

/** The content of the cookie of a signed-in page. The token of a person's sign-in is null: it is renewed, so `people` has it, under the id. */
type ConsoleSession = { readonly id: string; readonly token: string | null; readonly untilMs: number };

const PURPOSE = 'session of the console';
/** Sessions that were signed out and are not over yet; beyond it the one that was signed out first could be used again by its thief. */
const ENDED_MAX = 10_000;

export type ConsoleSessionOptions = {
  readonly keyring: Keyring;
  /** `coordinator.console_session_ttl` */
  readonly ttlMs: number;
  readonly nowMs: () => number;
  readonly people: Pick<PersonSignIns, 'tokenOf' | 'end'>;
};

type Sealed = { readonly value: string; readonly maxAgeS: number };

/**
 * Sessions of the console. The page never has a token: it lies sealed in a cookie that its scripts cannot read, which nobody but
 * coordinators of this cluster can open, so a restart signs nobody out, and another program on the same host that receives the cookie has no bearer.
 */
export class ConsoleSessions {
  readonly #options: ConsoleSessionOptions;
  readonly #ended = new LRUCache<string, true>({ max: ENDED_MAX });

  constructor(options: ConsoleSessionOptions) {
    this.#options = options;
  }

  /** The value of the cookie for a token that was verified. @param expS `exp` of the token */
  seal(token: string, expS: number): Sealed {
    return this.#seal({ id: randomUUID(), token, endsAtMs: expS * 1_000 });
  }

  /** The value of the cookie for the sign-in of a person. */
  sealSignIn({ id, endsAtMs }: { readonly id: string; readonly endsAtMs: number }): Sealed {
    return this.#seal({ id, token: null, endsAtMs });
  }

  /** The token of a cookie. @throws UNAUTHENTICATED */
  async tokenOf(cookie: string): Promise<string> {
    const { id, token } = this.#open(cookie);
    return token ?? this.#options.people.tokenOf(id);
  }

  /** Signs out: the cookie is refused from now on, also where a copy of it was kept. */
  async end(cookie: string): Promise<void> {
    const { id, token, untilMs } = this.#open(cookie);
    this.#ended.set(id, true, { ttl: Math.max(1, untilMs - this.#options.nowMs()) });
    if (token === null) await this.#options.people.end(id);
  }

  #seal({
    id,
    token,
    endsAtMs,
  }: {
    readonly id: string;
    readonly token: string | null;
    readonly endsAtMs: number;
  }): Sealed {
    const { keyring, ttlMs, nowMs } = this.#options;
    const now = nowMs();
    const untilMs = Math.min(now + ttlMs, endsAtMs);
    const value = sealText(JSON.stringify({ id, token, untilMs } satisfies ConsoleSession), keyring, PURPOSE);
    return { value, maxAgeS: Math.max(0, Math.floor((untilMs - now) / 1_000)) };
  }

  #open(cookie: string): ConsoleSession {
    const { keyring, nowMs } = this.#options;
    const opened = openText(cookie, keyring, PURPOSE);
    if ('problem' in opened) throw new SkeinError('UNAUTHENTICATED', 'the session of the console is not valid');
    const session = JSON.parse(opened.text) as ConsoleSession;
    if (session.untilMs <= nowMs() || this.#ended.has(session.id)) {
      throw new SkeinError('UNAUTHENTICATED', 'the session of the console has ended: sign in again');
    }
    return session;
  }
}
