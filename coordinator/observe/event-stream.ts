import { mayDo, type Caller } from '../auth/authenticate.ts';
import type { QueryEntry } from './entries.ts';

/** Kinds of events that a stream can have. */
export const TOPICS = ['cluster', 'groups', 'queries', 'tasks'] as const;
export type Topic = (typeof TOPICS)[number];

/** Where the text of a stream goes: the connection of its reader. */
export interface EventSink {
  /** Bytes that the reader has not taken yet. */
  readonly pendingBytes: number;
  write(text: string): void;
  /** Ends the stream after what was written. */
  end(): void;
  /** Breaks the connection. */
  destroy(): void;
}

/** One thing as it is now. */
export type Sample = {
  readonly topic: Topic;
  /** Type of the event that tells of it. */
  readonly type: 'cluster' | 'worker' | 'group' | 'tasks';
  readonly key: string;
  /** Whose it is; null = the tenant's. */
  readonly owner: string | null;
  /** The event's data when the thing is new or has changed. */
  readonly data: string;
  /** The same when the thing is gone; null = nothing is told. */
  readonly goneData: string | null;
};

/** Bytes that a reader may be behind: more, and its connection is broken. It comes back and names the last event that it has. */
const PENDING_BYTES_MAX = 256 * 1_024;
/** Time in which a reader takes something of what waits for it. */
const BEHIND_MAX_MS = 30_000;
/** A comment is sent after this time without an event, so that nothing on the way takes the connection for dead. */
const SILENCE_MAX_MS = 15_000;
/** Time after which a client that lost its stream comes back. */
const RETRY_MS = 2_000;

/**
 * A stream of server-sent events (WHATWG HTML, 9.2) for one reader. Changes of statements are told as they come, and each has an id, by
 * which a reader that comes back goes on. All else is told when it differs from what was told before, so a reader that is behind misses
 * steps in between and never the last one.
 */
export class EventStream {
  caller: Caller;
  readonly #topics: ReadonlySet<Topic>;
  readonly #sink: EventSink;
  #told = new Map<string, Sample>();
  #behindSinceMs: number | null = null;
  #pendingBytes = 0;
  #toldAtMs: number;
  #isOpen = true;

  constructor(caller: Caller, topics: ReadonlySet<Topic>, { sink, nowMs }: { sink: EventSink; nowMs: number }) {
    this.caller = caller;
    this.#topics = topics;
    this.#sink = sink;
    this.#toldAtMs = nowMs;
    this.#write(`retry: ${RETRY_MS}\n\n`);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  has(topic: Topic): boolean {
    return this.#topics.has(topic);
  }

  /** Tells a reader that begins, or has missed changes, to forget all that it knows of queries; `id` is the last change before. */
  reset(id: string): void {
    this.#write(printEvent('reset', '{}', id));
  }

  /** Tells of a statement that has changed; `id` is null for a reader that begins. */
  query(query: QueryEntry, id: string | null): void {
    if (!this.has('queries') || !this.#maySee(query.user_id)) return;
    this.#write(printEvent('query', JSON.stringify(query), id));
  }

  /** Tells what has changed since the last samples; a reader that is behind is told later, of what is then. */
  sample(samples: readonly Sample[], nowMs: number): void {
    if (!this.#isOpen || this.#isBehind(nowMs)) return;
    const now = new Map<string, Sample>();
    for (const sample of samples) {
      if (!this.has(sample.topic) || (sample.owner !== null && !this.#maySee(sample.owner))) continue;
      const { key, type, data } = sample;
      now.set(key, sample);
      if (this.#told.get(key)?.data !== data) this.#tell(printEvent(type, data, null), nowMs);
    }
    for (const [key, { type, goneData }] of this.#told) {
      if (!now.has(key) && goneData !== null) this.#tell(printEvent(type, goneData, null), nowMs);
    }
    this.#told = now;
    if (nowMs - this.#toldAtMs >= SILENCE_MAX_MS) this.#tell(':\n\n', nowMs);
  }

  /** Ends the stream; `data` says why. */
  end(data: string): void {
    if (!this.#isOpen) return;
    this.#write(printEvent('end', data, null));
    this.#isOpen = false;
    this.#sink.end();
  }

  /** The reader has left. */
  left(): void {
    this.#isOpen = false;
  }

  #maySee(owner: string): boolean {
    return owner === this.caller.claims.sub || mayDo(this.caller, 'query.list');
  }

  #tell(text: string, nowMs: number): void {
    this.#toldAtMs = nowMs;
    this.#write(text);
  }

  #write(text: string): void {
    if (!this.#isOpen) return;
    this.#sink.write(text);
    if (this.#sink.pendingBytes > PENDING_BYTES_MAX) this.#drop();
  }

  /** Whether the reader has yet to take what was written; one that has taken nothing for a while is dropped. */
  #isBehind(nowMs: number): boolean {
    const { pendingBytes } = this.#sink;
    const takes = pendingBytes < this.#pendingBytes;
    this.#pendingBytes = pendingBytes;
    if (pendingBytes === 0) this.#behindSinceMs = null;
    else if (takes || this.#behindSinceMs === null) this.#behindSinceMs = nowMs;
    else if (nowMs - this.#behindSinceMs > BEHIND_MAX_MS) this.#drop();
    return pendingBytes > 0;
  }

  #drop(): void {
    this.#isOpen = false;
    this.#sink.destroy();
  }
}

/** JSON has no line break, so the data is one line. */
const printEvent = (type: string, data: string, id: string | null): string =>
  `${id === null ? '' : `id: ${id}\n`}event: ${type}\ndata: ${data}\n\n`;
