import { DEFAULT_MLFQ, isMlfqSpec, LEVELS, type MlfqSpec } from '#shared/mlfq-spec.ts';

/** The levels' ends, then the ratio of their shares. */
const NUMBERS = LEVELS;
const VERSION_BYTES = 8;

/** Shared memory by which the main thread tells all slots how the levels of the feedback queue share their time. */
export class LevelSpec {
  readonly buffer: SharedArrayBuffer;
  readonly #version: Int32Array<SharedArrayBuffer>;
  readonly #numbers: Float64Array<SharedArrayBuffer>;
  /** Slot: the version that it has taken. */
  #taken = 0;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(VERSION_BYTES + NUMBERS * 8)) {
    this.buffer = buffer;
    this.#version = new Int32Array(buffer, 0, 1);
    this.#numbers = new Float64Array(buffer, VERSION_BYTES, NUMBERS);
  }

  /** Main thread: the spec of the cluster; one that is in force already changes nothing. */
  set(spec: MlfqSpec): void {
    const numbers = [...spec.levelsMs, spec.levelWeightRatio];
    const now =
      Atomics.load(this.#version, 0) === 0 ? [...DEFAULT_MLFQ.levelsMs, DEFAULT_MLFQ.levelWeightRatio] : this.#numbers;
    if (!isMlfqSpec(spec) || numbers.every((number, i) => number === now[i])) return;
    this.#numbers.set(numbers);
    Atomics.add(this.#version, 0, 1);
  }

  /** Slot: the spec, when it is another than at the last call; null = it is the same, at first the default. */
  take(): MlfqSpec | null {
    const version = Atomics.load(this.#version, 0);
    if (version === this.#taken) return null;
    const numbers = [...this.#numbers];
    const spec = { levelsMs: numbers.slice(0, -1), levelWeightRatio: numbers.at(-1) ?? 1 };
    // A write has come between: the next call takes it.
    if (!isMlfqSpec(spec)) return null;
    this.#taken = version;
    return spec;
  }
}
