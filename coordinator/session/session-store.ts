import type { Clock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalId, TenantId } from '#shared/id.ts';
import { EMPTY_SESSION, holdsNothing, preparedBytes, type SessionState } from './session.ts';

/** A session belongs to its principal: the same id under another principal is another session. */
export type SessionKey = {
  readonly tenant: TenantId;
  readonly principal: PrincipalId;
  /** `X-Skein-Session` names one; without it the token's `jti` does. */
  readonly kind: 'named' | 'token';
  readonly id: string;
};

type Entry = {
  readonly state: SessionState;
  readonly principal: string;
  /** `preparedBytes` of the state. */
  readonly bytes: number;
  readonly usedAtMs: number;
  /** 1, or 0 for one that `keep` was called for: its own door counts those. */
  readonly counted: 0 | 1;
};

/** The memory that the sessions of one principal hold together. */
type Held = { readonly sessions: number; readonly bytes: number };

type Options = {
  readonly idleMs: number;
  /** Most sessions of all principals together. */
  readonly sessionsMax: number;
  /** Most sessions of one principal. */
  readonly perPrincipalMax: number;
  /** Most memory for the prepared statements of all principals, and of one. */
  readonly preparedBytesMax: number;
  readonly preparedBytesPerPrincipalMax: number;
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
  readonly #held = new Map<string, Held>();
  /** Sessions that do not end by idle time. */
  readonly #kept = new Set<string>();
  #preparedBytes = 0;
  /** Sessions without those of `keep`. */
  #counted = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** The session's state now; an unknown id is a new session. */
  get(key: SessionKey): SessionState {
    this.#expire();
    const text = sessionText(key);
    const entry = this.#sessions.get(text);
    if (entry === undefined) return EMPTY_SESSION;
    this.#touch(text, entry);
    return entry.state;
  }

  /** Has a new session last until `end`, and not count among those of its principal: a connection holds it. */
  keep(key: SessionKey): void {
    this.#kept.add(sessionText(key));
  }

  /** Whether a connection holds the session. */
  isKept(key: SessionKey): boolean {
    return this.#kept.has(sessionText(key));
  }

  /**
   * Applies a change of one statement.
   * @throws QUEUE_FULL when there are too many sessions, of all or of the principal; TOO_MANY_PREPARED_STATEMENTS
   */
  update(key: SessionKey, change: (state: SessionState) => SessionState): void {
    this.#expire();
    const text = sessionText(key);
    const before = this.#sessions.get(text);
    const state = change(before?.state ?? EMPTY_SESSION);
    const principal = JSON.stringify([key.tenant, key.principal]);
    if (holdsNothing(state)) {
      if (before !== undefined) this.#end(text, before);
      return;
    }
    const bytes = preparedBytes(state);
    this.#checkMemory(principal, bytes - (before?.bytes ?? 0));
    const counted = this.#kept.has(text) ? 0 : 1;
    if (before === undefined && counted === 1) this.#checkCount(principal);
    this.#hold(principal, { sessions: before === undefined ? counted : 0, bytes: bytes - (before?.bytes ?? 0) });
    this.#sessions.delete(text);
    this.#sessions.set(text, { state, principal, bytes, counted, usedAtMs: this.#options.clock.monotonicMs() });
  }

  /** Ends a session. */
  end(key: SessionKey): void {
    const text = sessionText(key);
    const entry = this.#sessions.get(text);
    if (entry !== undefined) this.#end(text, entry);
    this.#kept.delete(text);
  }

  /** @throws QUEUE_FULL when the principal may have no further session */
  #checkCount(principal: string): void {
    const { sessionsMax, perPrincipalMax, idleMs } = this.#options;
    const count = this.#held.get(principal)?.sessions ?? 0;
    if (count >= perPrincipalMax) {
      const seconds = Math.ceil(idleMs / 1_000);
      throw new SkeinError(
        'QUEUE_FULL',
        `you have ${count} sessions, as many as a user may: each ends when it was idle for ${seconds} s`,
      );
    }
    if (this.#counted >= sessionsMax) throw new SkeinError('QUEUE_FULL', 'too many sessions are open');
  }

  /** @throws TOO_MANY_PREPARED_STATEMENTS when the principal may not hold so many bytes more */
  #checkMemory(principal: string, more: number): void {
    if (more <= 0) return;
    const { preparedBytesMax, preparedBytesPerPrincipalMax } = this.#options;
    const held = this.#held.get(principal)?.bytes ?? 0;
    if (held + more > preparedBytesPerPrincipalMax) {
      throw new SkeinError(
        'TOO_MANY_PREPARED_STATEMENTS',
        `your prepared statements would take ${held + more} bytes, more than the ${preparedBytesPerPrincipalMax} that a user may have: DEALLOCATE some`,
      );
    }
    if (this.#preparedBytes + more > preparedBytesMax) {
      throw new SkeinError('TOO_MANY_PREPARED_STATEMENTS', 'the prepared statements of all users take too much memory');
    }
  }

  #touch(text: string, entry: Entry): void {
    this.#sessions.delete(text);
    this.#sessions.set(text, { ...entry, usedAtMs: this.#options.clock.monotonicMs() });
  }

  #end(text: string, { principal, bytes, counted }: Entry): void {
    this.#sessions.delete(text);
    this.#hold(principal, { sessions: -counted, bytes: -bytes });
  }

  #hold(principal: string, more: Held): void {
    const before = this.#held.get(principal) ?? { sessions: 0, bytes: 0 };
    const after = { sessions: before.sessions + more.sessions, bytes: before.bytes + more.bytes };
    if (after.sessions === 0 && after.bytes === 0) this.#held.delete(principal);
    else this.#held.set(principal, after);
    this.#preparedBytes += more.bytes;
    this.#counted += more.sessions;
  }

  #expire(): void {
    const limitMs = this.#options.clock.monotonicMs() - this.#options.idleMs;
    for (const [text, entry] of this.#sessions) {
      if (entry.usedAtMs >= limitMs) return;
      if (this.#kept.has(text)) this.#touch(text, entry);
      else this.#end(text, entry);
    }
  }
}

/** A session as one text, the same for all spellings of its id. */
export const sessionText = (key: SessionKey): string =>
  JSON.stringify([key.tenant, key.principal, key.kind, key.id.toLowerCase()]);
