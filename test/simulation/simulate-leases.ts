import { expect, vi } from 'vitest';
import { CacheLeases, type LeaseMessage, type LeaseStore } from '#catalog/lease/cache-leases.ts';
import { AnswerLease, type AskedAt, type LeaseWire } from '#coordinator/catalog-client/answer-lease.ts';
import { CACHE_LEASE_MS_MAX } from '#shared/config/check-config.ts';
import type { Lease } from '#proto/lease.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { Random } from '#test/fuzz/random.ts';

/**
 * Two catalogs, each with a coordinator that has its lease there, on one Postgres, in time that is made up. Every message and statement
 * takes its time, so that later ones overtake; messages are lost, connections break, statements fail, and catalogs start anew.
 */
const SERVICES = 2;
const LEASE_MS = 300;
const SIMULATED_MS = 6_000;
/** Longest from a change to its acknowledgement: as long as nothing can be found out of the other catalog, and then its lease. */
const COMMIT_MS_MAX = CACHE_LEASE_MS_MAX + 4 * LEASE_MS;
/** Longest delay of most messages; longest delays of the others, one of them longer than a lease. */
const DELAY_MS = 2;
const LONG_DELAYS_MS = [10, 30, 120, 400];
/** Each run has one of each: mean times between two events of a kind, shares of the messages that take long and of those that are lost. */
const READS_MS = [4, 12, 40];
const COMMITS_MS = [100, 300, 1_000];
const FAULTS_MS = [100, 400, 1_500];
const LONG_DELAYS = [0.02, 0.1, 0.5];
const LOSSES = [0, 0.02, 0.1];
/** Share of the reads after which nobody reads for a while. */
const PAUSES = 0.01;

export type Outcome = {
  reads: number;
  /** Reads for which nobody was asked. */
  relied: number;
  commits: number;
};

/** The table: its newest version, and the newest one that was acknowledged. */
type Table = { version: number; acknowledged: number };

class World {
  readonly random: Random;
  readonly table: Table = { version: 0, acknowledged: 0 };
  readonly outcome: Outcome = { reads: 0, relied: 0, commits: 0 };
  readonly registrations = new Map<string, { readonly leaseMs: number; readonly endMs: number }>();
  readonly catalogs: Catalog[] = [];
  readonly coordinators: Coordinator[] = [];
  /** Share of the messages and statements that are lost; 0 once the run is over. */
  lossy: number;
  readonly #longDelays: number;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.lossy = this.random.pick(LOSSES);
    this.#longDelays = this.random.pick(LONG_DELAYS);
    for (let i = 0; i < SERVICES; i++) this.catalogs.push(new Catalog(this));
    for (let i = 0; i < SERVICES; i++) this.coordinators.push(new Coordinator(this, i));
  }

  delayMs(): number {
    const { random } = this;
    return random.fraction() * (random.chance(this.#longDelays) ? random.pick(LONG_DELAYS_MS) : DELAY_MS);
  }

  delay(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.delayMs()));
  }

  /** Has a message arrive after a while, or never. */
  send(arrive: () => void): void {
    if (!this.random.chance(this.lossy)) setTimeout(arrive, this.delayMs());
  }

  /** Runs a statement on Postgres: it may fail before it has happened and after. */
  async statement<T>(effect: () => T): Promise<T> {
    await this.delay();
    if (this.random.chance(this.lossy)) throw new Error('the connection broke');
    const result = effect();
    await this.delay();
    if (this.random.chance(this.lossy)) throw new Error('the connection broke');
    return result;
  }
}

/** A catalog process; `restart` puts another in its place. */
class Catalog {
  readonly #world: World;
  leases: CacheLeases;
  /** Whether notifications reach it, and whether it knows that. */
  listens = true;
  hears = true;

  constructor(world: World) {
    this.#world = world;
    this.leases = this.#start();
  }

  restart(): void {
    this.leases = this.#start();
  }

  /** Ends in order, and only then breaks its streams. */
  async stop(cut: () => void): Promise<void> {
    const { leases } = this;
    await leases.close();
    await this.#world.delay();
    if (this.leases === leases) this.restart();
    cut();
  }

  /** Notifications get lost, which it finds out after a while. */
  deafen(): void {
    const { random } = this.#world;
    this.listens = false;
    setTimeout(() => (this.hears = false), random.below(LEASE_MS));
    setTimeout(
      () => {
        this.listens = true;
        this.hears = true;
      },
      LEASE_MS + random.below(2 * LEASE_MS),
    );
  }

  async commit(): Promise<void> {
    const { table, outcome } = this.#world;
    const { leases } = this;
    await this.#world.delay();
    const version = ++table.version;
    const committedMs = performance.now();
    await this.#world.delay();
    await leases.settle();
    expect(performance.now() - committedMs, 'time until it is acknowledged').toBeLessThan(COMMIT_MS_MAX);
    table.acknowledged = Math.max(table.acknowledged, version);
    outcome.commits += 1;
  }

  #start(): CacheLeases {
    const world = this.#world;
    const isHearing = (): boolean => this.hears;
    const store: LeaseStore = {
      get hears() {
        return isHearing();
      },
      register: (process, leaseMs) =>
        world.statement(() => {
          world.registrations.set(process, { leaseMs, endMs: performance.now() + leaseMs });
        }),
      remove: (process) => world.statement(() => void world.registrations.delete(process)),
      others: (process) =>
        world.statement(() =>
          [...world.registrations]
            .filter(([name, { endMs }]) => name !== process && endMs > performance.now())
            .map(([name, { leaseMs }]) => ({ process: name, leaseMs })),
        ),
      notify: (message) =>
        world.statement(() => {
          for (const catalog of world.catalogs) world.send(() => catalog.notified(message));
        }),
    };
    return new CacheLeases(store, LEASE_MS, silentLogger);
  }

  notified(message: LeaseMessage): void {
    if (this.listens) this.leases.heard(message);
  }
}

/** A coordinator that reads the table, and relies on what it knows where its lease says so. */
class Coordinator {
  readonly #world: World;
  readonly #home: number;
  #lease: AnswerLease;
  #known: { readonly version: number; readonly asked: AskedAt | null } | undefined;
  /** Breaks the stream of the lease. */
  breakWire: () => void = () => undefined;

  constructor(world: World, home: number) {
    this.#world = world;
    this.#home = home;
    this.#lease = this.#start();
  }

  restart(): void {
    this.#lease.close();
    this.#known = undefined;
    this.#lease = this.#start();
  }

  async read(): Promise<void> {
    const { table, outcome, random } = this.#world;
    const promised = table.acknowledged;
    const isRelied = this.#known !== undefined && this.#lease.holds(this.#known.asked);
    const version = isRelied ? this.#known?.version : await this.#ask(random);
    expect(version, `read at ${performance.now()} ms`).toBeGreaterThanOrEqual(promised);
    outcome.reads += 1;
    outcome.relied += isRelied ? 1 : 0;
  }

  async #ask(random: Random): Promise<number> {
    const lease = this.#lease;
    const asked = lease.askedAt();
    await this.#world.delay();
    const { version } = this.#world.table;
    await this.#world.delay();
    if (lease === this.#lease && !random.chance(this.#world.lossy)) this.#known = { version, asked };
    return version;
  }

  #start(): AnswerLease {
    return new AnswerLease(({ lease, broken }) => this.#open(lease, broken));
  }

  #open(lease: (message: Lease) => void, broken: () => void): LeaseWire {
    const world = this.#world;
    const { leases } = world.catalogs[this.#home] ?? expect.fail('a catalog');
    let isOpen = true;
    const through = (arrive: () => void): void => world.send(() => (isOpen ? arrive() : undefined));
    const holder = leases.open((message) => through(() => lease(message)));
    this.breakWire = () => {
      isOpen = false;
      // Each end finds out in its own time.
      setTimeout(() => leases.lose(holder), world.delayMs());
      setTimeout(broken, world.delayMs());
    };
    return {
      send: (request) => through(() => void leases.renew(holder, request)),
      end: () => through(() => leases.release(holder)),
    };
  }
}

function fault({ random, catalogs, coordinators }: World): void {
  const at = random.below(SERVICES);
  const kind = random.below(5);
  if (kind === 0) coordinators[at]?.breakWire();
  else if (kind === 1) catalogs[at]?.deafen();
  else if (kind === 2) coordinators[at]?.restart();
  else if (kind === 3) void catalogs[at]?.stop(() => coordinators[at]?.breakWire());
  else {
    catalogs[at]?.restart();
    coordinators[at]?.breakWire();
  }
}

/** Runs readers, writers and faults from a seed. Fails at the first read that misses what was acknowledged before it began. */
export async function simulateLeases(seed: number): Promise<Outcome> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  try {
    const world = new World(seed);
    const { random } = world;
    const running: Promise<void>[] = [];
    const repeat = (everyMs: number, work: () => Promise<void> | void, pauses = 0): void => {
      const step = (): void => {
        if (performance.now() > SIMULATED_MS) return;
        running.push(Promise.resolve(work()));
        const pauseMs = random.chance(pauses) ? 4 * LEASE_MS * random.fraction() : 0;
        setTimeout(step, pauseMs + everyMs * 2 * random.fraction());
      };
      setTimeout(step, everyMs * random.fraction());
    };
    for (const coordinator of world.coordinators) repeat(random.pick(READS_MS), () => coordinator.read(), PAUSES);
    for (const catalog of world.catalogs) repeat(random.pick(COMMITS_MS), () => catalog.commit());
    repeat(random.pick(FAULTS_MS), () => fault(world));
    await vi.advanceTimersByTimeAsync(SIMULATED_MS + 1);
    world.lossy = 0;
    await vi.runAllTimersAsync();
    await Promise.all(running);
    return world.outcome;
  } finally {
    vi.useRealTimers();
  }
}
