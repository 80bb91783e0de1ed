import type { Clock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalId, TenantId } from '#shared/id.ts';
import { EMPTY_SESSION, holdsNothing, type SessionState } from './session.ts';

/** A session belongs to its principal: the same id under another principal is another session. */
export type SessionKey = {
  readonly tenant: TenantId;
  readonly principal: PrincipalId;
  /** `X-Skein-Session` names one; without it the token's `jti` does. */
  readonly kind: 'named' | 'token';
  readonly id: string;
};

type Entry = { readonly state: SessionState; readonly principal: string; readonly usedAtMs: number };
type Options = {
  readonly idleMs: number;
  /** Most sessions of all principals together. */
  readonly sessionsMax: number;
  /** Most sessions of one principal. */
  readonly perPrincipalMax: number;
  readonly clock: Clock;
};

/**
 * Sessions of all protocols. A session is kept while it holds a setting, catalog or schema, and until it was idle for
 * `coordinator.session_idle`. No session is ended to make room for another: a principal that has too many gets no further one.
 */
export class SessionStore {
  readonly #options: Options;
  /** Ordered by last use, oldest first. */
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

  /** Applies a change of one statement. @throws QUEUE_FULL when there are too many sessions, of all or of the principal. */
  update(key: SessionKey, change: (state: SessionState) => SessionState): void {
    this.#expire();
    const text = keyText(key);
    const before = this.#sessions.get(text);
    const state = change(before?.state ?? EMPTY_SESSION);
    const principal = JSON.stringify([key.tenant, key.principal]);
    if (holdsNothing(state)) {
      if (before !== undefined) this.#end(text, before);
      return;
    }
    if (before === undefined) this.#begin(principal);
    this.#sessions.delete(text);
    this.#sessions.set(text, { state, principal, usedAtMs: this.#options.clock.monotonicMs() });
  }

  /** Counts a new session. @throws QUEUE_FULL */
  #begin(principal: string): void {
    const { sessionsMax, perPrincipalMax, idleMs } = this.#options;
    const count = this.#perPrincipal.get(principal) ?? 0;
    if (count >= perPrincipalMax) {
      const seconds = Math.ceil(idleMs / 1_000);
      throw new SkeinError(
        'QUEUE_FULL',
        `you have ${count} sessions, as many as a user may: each ends when it was idle for ${seconds} s`,
      );
    }
    if (this.#sessions.size >= sessionsMax) throw new SkeinError('QUEUE_FULL', 'too many sessions are open');
    this.#perPrincipal.set(principal, count + 1);
  }

  #end(text: string, { principal }: Entry): void {
    this.#sessions.delete(text);
    const left = (this.#perPrincipal.get(principal) ?? 1) - 1;
    if (left === 0) this.#perPrincipal.delete(principal);
    else this.#perPrincipal.set(principal, left);
  }

  #expire(): void {
    const limitMs = this.#options.clock.monotonicMs() - this.#options.idleMs;
    for (const [text, entry] of this.#sessions) {
      if (entry.usedAtMs >= limitMs) return;
      this.#end(text, entry);
    }
  }
}

const keyText = (key: SessionKey): string =>
  JSON.stringify([key.tenant, key.principal, key.kind, key.id.toLowerCase()]);
