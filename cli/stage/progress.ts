const MIB = 2 ** 20;
/** Least time between two lines of progress. */
const INTERVAL_MS = 100;

/** The progress of a transfer, on one line of a terminal. */
export class Progress {
  readonly #verb: string;
  readonly #bytesInAll: number;
  readonly #startMs = performance.now();
  #bytes = 0;
  #shownMs = 0;

  constructor(verb: string, bytesInAll: number) {
    this.#verb = verb;
    this.#bytesInAll = bytesInAll;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    const nowMs = performance.now();
    if (!process.stderr.isTTY || nowMs - this.#shownMs < INTERVAL_MS) return;
    this.#shownMs = nowMs;
    process.stderr.write(`\r${this.line(nowMs)}\u001b[K`);
  }

  /** Removes the line. */
  end(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  }

  line(nowMs: number): string {
    const percent = this.#bytesInAll === 0 ? 100 : Math.floor((100 * this.#bytes) / this.#bytesInAll);
    const perSecond = this.#bytes / MIB / Math.max(0.001, (nowMs - this.#startMs) / 1_000);
    const of = `${(this.#bytes / MIB).toFixed(1)} of ${(this.#bytesInAll / MIB).toFixed(1)} MiB`;
    return `${this.#verb} ${percent} %, ${of}, ${perSecond.toFixed(1)} MiB/s`;
  }
}
