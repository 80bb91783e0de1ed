import type { Clock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalId, TenantId } from '#shared/id.ts';
import { EMPTY_SESSION, type SessionState } from './session.ts';

/** A session belongs to its principal: the same id under another principal is another session. */
export type SessionKey = {
  readonly tenant: TenantId;
  readonly principal: PrincipalId;
  /** `X-Skein-Session` names one; without it the token's `jti` does. */
  readonly kind: 'named' | 'token';
  readonly id: string;
};

type Entry = { readonly state: SessionState; readonly principal: string; readonly usedAtMs: number };
type Options = { readonly idleMs: number; readonly sessionsMax: number; readonly clock: Clock };

/** So that one principal cannot take all of `coordinator.sessions_max`. */
const SESSIONS_OF_A_PRINCIPAL_MAX = 1_000;

/** Sessions of all protocols, kept while they hold anything and until they were idle for `coordinator.session_idle`. */
export class SessionStore {
  readonly #options: Options;
  /** By last use, oldest first. */
  readonly #sessions = new Map<string, Entry>();
  readonly #perPrincipal = new Map<string, number>();

  constructor(options: Options) {
    this.#options = options;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** The session's state now; an unknown id is a new session. */
  get(key: SessionKey): SessionState {
    this.#expire();
    const text = keyText(key);
    const entry = this.#sessions.get(text);
    if (entry === undefined) return EMPTY_SESSION;
    this.#sessions.delete(text);
    this.#sessions.set(text, { ...entry, usedAtMs: this.#options.clock.monotonicMs() });
    return entry.state;
  }

  /** Applies a change of one statement. @throws QUEUE_FULL when there are too many sessions. */
  update(key: SessionKey, change: (state: SessionState) => SessionState): void {
    this.#expire();
    const text = keyText(key);
    const before = this.#sessions.get(text);
    const state = change(before?.state ?? EMPTY_SESSION);
    const principal = JSON.stringify([key.tenant, key.principal]);
    const count = this.#perPrincipal.get(principal) ?? 0;
    if (before === undefined) {
      if (this.#sessions.size >= this.#options.sessionsMax || count >= SESSIONS_OF_A_PRINCIPAL_MAX) {
        throw new SkeinError('QUEUE_FULL', 'too many sessions are open');
      }
      this.#perPrincipal.set(principal, count + 1);
    }
    this.#sessions.delete(text);
    this.#sessions.set(text, { state, principal, usedAtMs: this.#options.clock.monotonicMs() });
  }

  #expire(): void {
    const limitMs = this.#options.clock.monotonicMs() - this.#options.idleMs;
    for (const [text, entry] of this.#sessions) {
      if (entry.usedAtMs >= limitMs) return;
      this.#sessions.delete(text);
      const left = (this.#perPrincipal.get(entry.principal) ?? 1) - 1;
      if (left === 0) this.#perPrincipal.delete(entry.principal);
      else this.#perPrincipal.set(entry.principal, left);
    }
  }
}

const keyText = (key: SessionKey): string =>
  JSON.stringify([key.tenant, key.principal, key.kind, key.id.toLowerCase()]);
