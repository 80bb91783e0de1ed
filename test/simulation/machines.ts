import { AsyncLocalStorage } from 'node:async_hooks';
import { vi } from 'vitest';
import type { Random } from '#test/fuzz/random.ts';

/** Longest delay of most messages, and of the others. */
const DELAY_MS = 5;
const LONG_DELAY_MS = 400;
const LONG_DELAYS = 0.02;

const running = new AsyncLocalStorage<Machine>();

/**
 * A machine in simulated time, with a clock that has its own rate and begins anywhere. Code that runs in it (`run`) has its timers and
 * `performance.now`. While it is frozen, nothing in it runs; afterwards all that has waited does.
 */
export class Machine {
  readonly name: string;
  readonly rate: number;
  readonly #offsetMs: number;
  #frozen = false;
  #waiting: (() => void)[] = [];

  constructor(name: string, { rate, offsetMs }: { readonly rate: number; readonly offsetMs: number }) {
    this.name = name;
    this.rate = rate;
    this.#offsetMs = offsetMs;
  }

  get isFrozen(): boolean {
    return this.#frozen;
  }

  clockMs(trueMs: number): number {
    return this.#offsetMs + trueMs * this.rate;
  }

  run<T>(work: () => T): T {
    return running.run(this, work);
  }

  /** Has something happen in the machine, now or when it is no longer frozen. */
  deliver(work: () => void): void {
    if (this.#frozen) this.#waiting.push(work);
    else this.run(work);
  }

  freeze(isFrozen: boolean): void {
    this.#frozen = isFrozen;
    if (isFrozen) return;
    for (const work of this.#waiting.splice(0)) this.run(work);
  }
}

/** The ways between machines: each direction can be cut by itself. */
export class Wires {
  readonly #random: Random;
  readonly #delayMs: () => number;
  /** Cut directions, with what waits for their ends: the kernel sends again. */
  readonly #cut = new Map<string, (() => void)[]>();

  /** @param delayMs how long a message takes */
  constructor(random: Random, delayMs = () => usualDelayMs(random)) {
    this.#random = random;
    this.#delayMs = delayMs;
  }

  cut(from: Machine, to: Machine): void {
    this.#cut.set(wayOf(from, to), []);
  }

  mend(from: Machine, to: Machine): void {
    const late = this.#cut.get(wayOf(from, to)) ?? [];
    this.#cut.delete(wayOf(from, to));
    for (const arrive of late) arrive();
  }

  /** Asks a machine. Never settles when the question or the answer is lost. */
  ask<T>(from: Machine, to: Machine, work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void): void => this.send(to, from, settle);
      this.send(from, to, () => {
        new Promise<T>((done) => done(work())).then(
          (result) => answer(() => resolve(result)),
          (error: unknown) => answer(() => reject(error)),
        );
      });
    });
  }

  send(from: Machine, to: Machine, arrive: () => void): void {
    const waiting = this.#cut.get(wayOf(from, to));
    const later = (): void => void trueTimeout(() => to.deliver(arrive), this.#delayMs());
    if (waiting === undefined) later();
    else if (this.#random.chance(0.5)) waiting.push(later);
  }
}

const usualDelayMs = (random: Random): number =>
  random.fraction() * (random.chance(LONG_DELAYS) ? LONG_DELAY_MS : DELAY_MS);

/** A machine whose clock goes wrong by `drift` of its rate at most, and often by just that. */
export const machineOfDrift = (name: string, drift: number, random: Random): Machine => {
  const part = random.chance(0.5) ? random.pick([-1, 1]) : 2 * random.fraction() - 1;
  return new Machine(name, { rate: 1 + drift * part, offsetMs: random.fraction() * 1e9 });
};

type Cut = { readonly random: Random; readonly machines: readonly Machine[]; readonly holdMs: number };

/** For a while one machine is silent to all others, or two to each other, or what one sends to another vanishes. */
export async function cutSome(wires: Wires, { random, machines, holdMs }: Cut): Promise<void> {
  const kind = random.below(4);
  const [one, other] = [random.pick(machines), random.pick(machines)];
  const others = kind === 0 ? machines.filter((each) => each !== one) : [other];
  const ways = others.flatMap((each) => [[one, each] as const, ...(kind < 2 ? [[each, one] as const] : [])]);
  for (const [from, to] of ways) wires.cut(from, to);
  await simulatedPause(holdMs);
  for (const [from, to] of ways) wires.mend(from, to);
}

/** Waits for an answer for so long by the clock of the machine that runs. */
export async function within<T>(ms: number, asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), ms);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}

const wayOf = (from: Machine, to: Machine): string => `${from.name} ${to.name}`;

let trueTimeout: (work: () => void, ms: number) => unknown;
let trueNow: () => number;

/** The time of the simulation, by no machine's clock. */
export const simulatedMs = (): number => trueNow();

/** Waits in simulated time, by no machine's clock. */
export const simulatedPause = (ms: number): Promise<void> =>
  new Promise((resolve) => void trueTimeout(() => resolve(), ms));

/** Runs `work` in simulated time, in which every machine has its timers and its clock. */
export async function inSimulatedTime<T>(work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
  });
  const { setTimeout: after, clearTimeout: stop, setInterval: every, clearInterval: stopEvery } = globalThis;
  trueTimeout = (todo, ms) => after(todo, ms);
  trueNow = performance.now.bind(performance);
  const stopped = new WeakSet<object>();
  const timed =
    (start: typeof after) =>
    (todo: () => void, ms = 0): NodeJS.Timeout => {
      const machine = running.getStore();
      if (machine === undefined) return start(todo, ms);
      const timer: NodeJS.Timeout = start(
        () => machine.deliver(() => (stopped.has(timer) ? undefined : todo())),
        // Node's timers take whole milliseconds, and never none.
        Math.max(1, Math.ceil(ms / machine.rate)),
      );
      return timer;
    };
  const stopping =
    (end: typeof stop) =>
    (timer?: NodeJS.Timeout): void => {
      if (timer === undefined) return;
      stopped.add(timer);
      end(timer);
    };
  Object.assign(globalThis, {
    setTimeout: timed(after),
    setInterval: timed(every as unknown as typeof after),
    clearTimeout: stopping(stop),
    clearInterval: stopping(stopEvery),
  });
  performance.now = () => running.getStore()?.clockMs(trueNow()) ?? trueNow();
  try {
    return await work();
  } finally {
    Object.assign(globalThis, { setTimeout: after, clearTimeout: stop, setInterval: every, clearInterval: stopEvery });
    performance.now = trueNow;
    vi.useRealTimers();
  }
}
