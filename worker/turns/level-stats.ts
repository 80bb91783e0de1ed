import { LEVELS } from '#shared/mlfq-spec.ts';

/** By level of the feedback queue, the top one first. */
export type Levels = {
  /** Tasks that can run, those that run included. */
  readonly tasks: readonly number[];
  /** Time that quanta have taken, in ms; each counts to the level that its task had when it began. */
  readonly scheduledMs: readonly number[];
};

const NANOSECONDS_PER_MS = 1e6;
const BYTES = LEVELS * BigInt64Array.BYTES_PER_ELEMENT;

/** Shared memory in which a slot's thread tells how many tasks each level has, and how much time it has given to them. */
export class LevelStats {
  readonly buffer: SharedArrayBuffer;
  readonly #tasks: BigInt64Array<SharedArrayBuffer>;
  readonly #nanoseconds: BigInt64Array<SharedArrayBuffer>;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(2 * BYTES)) {
    this.buffer = buffer;
    this.#tasks = new BigInt64Array(buffer, 0, LEVELS);
    this.#nanoseconds = new BigInt64Array(buffer, BYTES, LEVELS);
  }

  /** Slot: the tasks of each level now. */
  setTasks(tasks: readonly number[]): void {
    tasks.forEach((count, level) => Atomics.store(this.#tasks, level, BigInt(count)));
  }

  /** Slot: a quantum of this level has ended. */
  charge(level: number, quantumMs: number): void {
    Atomics.add(this.#nanoseconds, level, BigInt(Math.round(quantumMs * NANOSECONDS_PER_MS)));
  }

  /** Main thread. */
  read(): Levels {
    const numbers = (words: BigInt64Array<SharedArrayBuffer>): number[] =>
      Array.from({ length: LEVELS }, (_level, i) => Number(Atomics.load(words, i)));
    return {
      tasks: numbers(this.#tasks),
      scheduledMs: numbers(this.#nanoseconds).map((ns) => ns / NANOSECONDS_PER_MS),
    };
  }
}

/** Adds up the levels of several slots. */
export const addLevels = (all: readonly Levels[]): Levels => {
  const sum = (of: (levels: Levels) => readonly number[]): number[] =>
    Array.from({ length: LEVELS }, (_level, i) => all.reduce((total, levels) => total + (of(levels)[i] ?? 0), 0));
  return { tasks: sum(({ tasks }) => tasks), scheduledMs: sum(({ scheduledMs }) => scheduledMs) };
};
