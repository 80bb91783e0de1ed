import { call } from '../api/call.ts';
import { Store } from '../app/store.ts';

/** An event of `GET /api/events`, in words for the list. */
type FeedEvent = {
  readonly id: string;
  readonly kind: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly atMs: number;
};

const CHANNEL = 'skein-console events';
/** Events that people read; the others repeat the figures that the page asks for. */
const SHOWN = new Set(['query', 'worker', 'end']);
const EVENTS_MAX = 200;
const AGAIN_MS = 3_000;

/**
 * The events of the cluster. Browsers open six connections to an address: one window of a browser holds the stream, and tells the others. When
 * it goes, another one takes over.
 */
export class EventFeed {
  readonly events = new Store<readonly FeedEvent[]>([]);
  readonly #channel: BroadcastChannel;
  readonly #abort = new AbortController();

  /** @param owner tenant and id of the user: windows of another one have a stream of their own */
  constructor(owner: string) {
    this.#channel = new BroadcastChannel(`${CHANNEL} ${owner}`);
    this.#channel.addEventListener('message', ({ data }: MessageEvent<FeedEvent>) => this.#add(data));
    const { signal } = this.#abort;
    navigator.locks
      .request(`${CHANNEL} ${owner}`, { signal }, () => this.#read())
      .catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
  }

  end(): void {
    this.#abort.abort();
    this.#channel.close();
  }

  #add(event: FeedEvent): void {
    this.events.update((events) => [event, ...events].slice(0, EVENTS_MAX));
  }

  /** Holds the stream until the page goes; a stream that ends begins again. */
  async #read(): Promise<void> {
    const { signal } = this.#abort;
    while (!signal.aborted) {
      await this.#stream(signal).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  async #stream(signal: AbortSignal): Promise<void> {
    const response = await call('/api/events?topics=queries,cluster', { signal });
    if (response.body === null) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const event of blocks.map(readEvent)) {
        if (event === null || !SHOWN.has(event.kind)) continue;
        this.#add(event);
        tell(this.#channel, event);
      }
    }
  }
}

/** A channel has no origin to name, as a window has. */
const tell = (channel: BroadcastChannel, event: FeedEvent, post = channel.postMessage.bind(channel)): void =>
  post(event);

/** Reads a block of the stream; null for one without data. */
function readEvent(block: string): FeedEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const at = line.indexOf(':');
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).trimStart());
  }
  const data = fields.get('data');
  if (data === undefined) return null;
  const parsed = JSON.parse(data) as Readonly<Record<string, unknown>>;
  return { id: fields.get('id') ?? '', kind: fields.get('event') ?? '', data: parsed, atMs: Date.now() };
}
