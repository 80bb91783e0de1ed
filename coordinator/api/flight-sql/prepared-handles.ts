import { randomBytes } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import type { StatementDescription } from '../../operation/description.ts';
import { sessionText, type SessionKey } from '../../session/session-store.ts';
import type { BoundRows } from './bound-rows.ts';

/** A statement that a client has prepared. It is text: each execution binds its names and values anew. */
export type PreparedHandle = {
  readonly sql: string;
  readonly transaction: SessionKey | undefined;
  readonly description: StatementDescription;
  /** The rows that are bound to its parameters; null = none yet. */
  readonly bound: BoundRows | null;
};

type Entry = {
  statement: PreparedHandle;
  readonly owner: string;
  readonly session: string;
  bytes: number;
  usedAtMs: number;
};

type Options = {
  /** Most handles of one session. */
  readonly perSessionMax: number;
  /** Most bytes that the texts of one principal's statements and the rows bound to them have together. */
  readonly bytesPerPrincipalMax: number;
  /** Time after which a handle that nobody uses is gone. */
  readonly idleMs: number;
  readonly nowMs: () => number;
};

const HANDLE_BYTES = 16;

/** The prepared statements of all sessions. A handle is worth something in the hands of its principal only. */
export class PreparedHandles {
  readonly #options: Options;
  /** The one that was used least recently comes first. */
  readonly #handles = new Map<string, Entry>();
  readonly #counts = new Map<string, number>();
  /** Bytes of each principal. */
  readonly #bytes = new Map<string, number>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Keeps a statement; answers its handle. @throws TOO_MANY_PREPARED_STATEMENTS */
  add(key: SessionKey, statement: PreparedHandle): string {
    this.#expire();
    const session = sessionText(key);
    const count = this.#counts.get(session) ?? 0;
    const { perSessionMax, nowMs } = this.#options;
    if (count >= perSessionMax) {
      throw new SkeinError(
        'TOO_MANY_PREPARED_STATEMENTS',
        `the session has ${perSessionMax} prepared statements: close some`,
      );
    }
    const owner = ownerOf(key);
    const bytes = bytesOf(statement);
    this.#hold(owner, bytes);
    this.#counts.set(session, count + 1);
    const handle = randomBytes(HANDLE_BYTES).toString('hex');
    this.#handles.set(handle, { statement, owner, session, bytes, usedAtMs: nowMs() });
    return handle;
  }

  /** @throws PREPARED_STATEMENT_NOT_FOUND for another principal's, too */
  find(key: SessionKey, handle: string): PreparedHandle {
    return this.#entry(key, handle).statement;
  }

  /** Binds rows to the parameters of a statement; they replace those before. @throws as `find`, TOO_MANY_PREPARED_STATEMENTS */
  bind(key: SessionKey, handle: string, bound: BoundRows): void {
    const entry = this.#entry(key, handle);
    const statement = { ...entry.statement, bound };
    const bytes = bytesOf(statement);
    this.#hold(entry.owner, bytes - entry.bytes);
    entry.bytes = bytes;
    entry.statement = statement;
  }

  /** Forgets a handle; one that is not there is forgotten already. */
  remove(key: SessionKey, handle: string): void {
    const entry = this.#handles.get(handle);
    if (entry?.owner === ownerOf(key)) this.#remove(handle, entry);
  }

  /** Forgets the handles of a session. */
  removeAll(key: SessionKey): void {
    const session = sessionText(key);
    for (const [handle, entry] of this.#handles) if (entry.session === session) this.#remove(handle, entry);
  }

  #entry(key: SessionKey, handle: string): Entry {
    this.#expire();
    const entry = this.#handles.get(handle);
    if (entry?.owner !== ownerOf(key)) {
      throw new SkeinError('PREPARED_STATEMENT_NOT_FOUND', 'no such prepared statement: it was closed, or has expired');
    }
    entry.usedAtMs = this.#options.nowMs();
    this.#handles.delete(handle);
    this.#handles.set(handle, entry);
    return entry;
  }

  /** @throws TOO_MANY_PREPARED_STATEMENTS when a principal would have too many bytes */
  #hold(owner: string, more: number): void {
    const bytes = (this.#bytes.get(owner) ?? 0) + more;
    const { bytesPerPrincipalMax } = this.#options;
    if (more > 0 && bytes > bytesPerPrincipalMax) {
      const message = `your prepared statements would have ${bytes} bytes with their bound rows, more than ${bytesPerPrincipalMax}: close some`;
      throw new SkeinError('TOO_MANY_PREPARED_STATEMENTS', message);
    }
    if (bytes === 0) this.#bytes.delete(owner);
    else this.#bytes.set(owner, bytes);
  }

  #remove(handle: string, { session, owner, bytes }: Entry): void {
    this.#handles.delete(handle);
    this.#hold(owner, -bytes);
    const count = (this.#counts.get(session) ?? 1) - 1;
    if (count === 0) this.#counts.delete(session);
    else this.#counts.set(session, count);
  }

  #expire(): void {
    const limitMs = this.#options.nowMs() - this.#options.idleMs;
    for (const [handle, entry] of this.#handles) {
      if (entry.usedAtMs >= limitMs) return;
      this.#remove(handle, entry);
    }
  }
}

const ownerOf = ({ tenant, principal }: SessionKey): string => JSON.stringify([tenant, principal]);

/** About as many as a statement holds in memory: its text, and the values that are bound to it. */
const bytesOf = ({ sql, bound }: PreparedHandle): number => 2 * sql.length + (bound?.bytes ?? 0);
