import type { Logger } from '#shared/log/logger.ts';
import type { WorkerInfo } from './worker-info.ts';
import type { WorkerLink } from './worker-link.ts';

/** A live worker, as the other one of a pair sees it. */
type PairWorker = {
  readonly link: Pick<WorkerLink, 'address' | 'calls'>;
  readonly info: Pick<WorkerInfo, 'id' | 'name'>;
  readonly lost: AbortSignal;
};

/** Time that a worker has to say whether it reaches another. */
const ASK_TIMEOUT_MS = 6_000;
/** How often workers that did not reach each other are asked again. */
const AGAIN_MS = 2_000;

type Options = {
  readonly live: () => readonly PairWorker[];
  readonly log: Logger;
  /** Called when workers reach each other no longer, or again. */
  readonly onChange: () => void;
};

/** One worker that does not reach another; both live. */
type Apart = { readonly reader: string; readonly holder: string };

/**
 * The pairs of live workers that do not reach each other, although the coordinator reaches both. Workers are asked when a read between them
 * has failed, and those of a pair that is apart every other second until they reach each other again.
 */
export class WorkerPairs {
  readonly #options: Options;
  readonly #apart = new Map<string, Apart>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** The pairs that are apart, by the names of their workers. */
  get apart(): readonly string[] {
    const names = new Map(this.#options.live().map(({ info }) => [info.id, info.name]));
    return [...this.#apart.values()].map(({ reader, holder }) => `${names.get(reader)} - ${names.get(holder)}`);
  }

  /** Asks whether a worker reaches one that holds what it reads; when it does not, also about all others of these two. */
  async look(reader: PairWorker, holder: PairWorker): Promise<boolean> {
    if (reader.info.id === holder.info.id) return false;
    if (await this.#reaches(reader, holder)) return false;
    const pairs = this.#options.live().flatMap((other) => [[reader, other] as const, [holder, other] as const]);
    await Promise.all(pairs.map(([one, other]) => this.#reaches(one, other)));
    return true;
  }

  /** Leaves out as few workers as it takes for the others to reach each other, or somewhat more. */
  together<Worker extends PairWorker>(workers: readonly Worker[]): readonly Worker[] {
    if (this.#apart.size === 0) return workers;
    const left = [...workers];
    for (;;) {
      const apart = left.map((one) => left.filter((other) => this.#areApart(one.info.id, other.info.id)).length);
      const most = Math.max(0, ...apart);
      if (most === 0) return left;
      left.splice(apart.lastIndexOf(most), 1);
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#apart.clear();
  }

  #areApart(one: string, other: string): boolean {
    return this.#apart.has(keyOf(one, other)) || this.#apart.has(keyOf(other, one));
  }

  /** Asks, and remembers the answer. One who does not answer may itself be gone, which its heartbeats will say. */
  async #reaches(reader: PairWorker, holder: PairWorker): Promise<boolean> {
    if (reader.info.id === holder.info.id) return true;
    const request = { address: holder.link.address };
    const answer = await reader.link.calls
      .call('Reach', request, { timeoutMs: ASK_TIMEOUT_MS, signal: AbortSignal.any([reader.lost, holder.lost]) })
      .catch(() => ({ reached: true }));
    this.#note({ reader: reader.info.id, holder: holder.info.id }, answer.reached);
    return answer.reached;
  }

  #note(pair: Apart, reached: boolean): void {
    const key = keyOf(pair.reader, pair.holder);
    if (reached ? !this.#apart.delete(key) : this.#apart.has(key)) return;
    if (!reached) this.#apart.set(key, pair);
    const said = { reader: pair.reader, holder: pair.holder };
    if (reached) this.#options.log.warn(said, 'workers reach each other again');
    else
      this.#options.log.error(
        said,
        'a worker does not reach another, although both live: they read nothing of each other',
      );
    this.#options.onChange();
    this.#askAgain();
  }

  #askAgain(): void {
    clearTimeout(this.#timer);
    if (this.#apart.size === 0) return;
    this.#timer = setTimeout(() => void this.#again(), AGAIN_MS);
    this.#timer.unref();
  }

  async #again(): Promise<void> {
    const live = new Map(this.#options.live().map((worker) => [worker.info.id, worker]));
    const asked = [...this.#apart].map(async ([key, { reader, holder }]) => {
      const [one, other] = [live.get(reader), live.get(holder)];
      // Nothing is known of one that is gone, or has begun another life.
      if (one === undefined || other === undefined) this.#apart.delete(key);
      else await this.#reaches(one, other);
    });
    await Promise.all(asked);
    this.#askAgain();
  }
}

const keyOf = (reader: string, holder: string): string => `${reader} ${holder}`;
