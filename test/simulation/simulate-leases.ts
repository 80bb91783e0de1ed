import { expect, vi } from 'vitest';
import { CacheLeases, type LeaseMessage, type LeaseStore } from '#catalog/lease/cache-leases.ts';
import { AnswerLease, type AskedAt, type LeaseWire } from '#coordinator/catalog-client/answer-lease.ts';
import { CACHE_LEASE_MS_MAX } from '#shared/config/check-config.ts';
import type { Lease } from '#shared/task/lease.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { must } from '#shared/must.ts';
import { Random } from '#test/fuzz/random.ts';
import {
  cutSome,
  inSimulatedTime,
  machineOfDrift,
  simulatedMs,
  simulatedPause,
  within,
  Wires,
  type Machine,
} from './machines.ts';

/**
 * Two catalogs, each with a coordinator that has its lease there, on one Postgres, in time that is made up. Every message and statement
 * takes its time, so that later ones overtake; messages are lost, connections break, statements fail, and catalogs start anew. Ways between
 * any two of these machines are cut, in one direction or both; machines stand still; and every machine's clock has a rate of its own.
 */
const SERVICES = 2;
const LEASE_MS = 300;
const SIMULATED_MS = 6_000;
/** A statement without an answer fails after this time. */
const STATEMENT_MS = 500;
/** Longest from a change to its acknowledgement: as long as nothing can be found out of the other catalog, and then its lease. */
const COMMIT_MS_MAX = CACHE_LEASE_MS_MAX + 4 * LEASE_MS + 2 * STATEMENT_MS;
/** Clocks go wrong by this part at most: two of them differ by less than `RELIED_PART` allows. */
const DRIFT = 0.02;
/** Longest delay of most messages; longest delays of the others, one of them longer than a lease. */
const DELAY_MS = 2;
const LONG_DELAYS_MS = [10, 30, 120, 400];
/** Each run has one of each: mean times between two events of a kind, shares of the messages that take long and of those that are lost. */
const READS_MS = [4, 12, 40];
const COMMITS_MS = [100, 300, 1_000];
const FAULTS_MS = [100, 400, 1_500];
const LONG_DELAYS = [0.02, 0.1, 0.5];
const LOSSES = [0, 0.02, 0.1];
/** Times for which a way is cut or a machine stands still. */
const HOLDS_MS = [30, 200, 800];
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
  readonly wires: Wires;
  readonly table: Table = { version: 0, acknowledged: 0 };
  readonly outcome: Outcome = { reads: 0, relied: 0, commits: 0 };
  readonly postgres: Machine;
  /** Their ends are times of Postgres's clock. */
  readonly registrations = new Map<string, { readonly leaseMs: number; readonly endMs: number }>();
  readonly catalogs: Catalog[] = [];
  readonly coordinators: Coordinator[] = [];
  /** Share of the messages and statements that are lost; 0 once the run is over. */
  lossy: number;
  readonly #longDelays: number;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.wires = new Wires(this.random, () => this.delayMs());
    this.lossy = this.random.pick(LOSSES);
    this.#longDelays = this.random.pick(LONG_DELAYS);
    this.postgres = machineOfDrift('Postgres', DRIFT, this.random);
    for (let i = 0; i < SERVICES; i++) this.catalogs.push(new Catalog(this, `catalog ${i}`));
    for (let i = 0; i < SERVICES; i++) this.coordinators.push(new Coordinator(this, i));
  }

  get machines(): readonly Machine[] {
    return [this.postgres, ...[...this.catalogs, ...this.coordinators].map(({ machine }) => machine)];
  }

  delayMs(): number {
    const { random } = this;
    return random.fraction() * (random.chance(this.#longDelays) ? random.pick(LONG_DELAYS_MS) : DELAY_MS);
  }

  /** Has a message arrive after a while, or never. */
  send(from: Machine, to: Machine, arrive: () => void): void {
    if (!this.random.chance(this.lossy)) this.wires.send(from, to, arrive);
  }

  /** Runs a statement on Postgres: it may fail before it has happened and after. */
  async statement<T>(from: Machine, effect: () => T): Promise<T> {
    if (this.random.chance(this.lossy)) throw new Error('the connection broke');
    const result = await within(STATEMENT_MS, this.wires.ask(from, this.postgres, effect));
    if (this.random.chance(this.lossy)) throw new Error('the connection broke');
    return result;
  }

  /** Has a machine find out something in its own time. */
  findOut(machine: Machine, work: () => void): void {
    void simulatedPause(this.delayMs()).then(() => machine.deliver(work));
  }
}

/** A catalog process; `restart` puts another in its place. */
class Catalog {
  readonly machine: Machine;
  readonly #world: World;
  leases: CacheLeases;
  /** Whether notifications reach it, and whether it knows that. */
  listens = true;
  hears = true;
  /** Time for which it has stood still. */
  frozenMs = 0;

  constructor(world: World, name: string) {
    this.#world = world;
    this.machine = machineOfDrift(name, DRIFT, world.random);
    this.leases = this.#start();
  }

  restart(): void {
    this.leases = this.#start();
  }

  /** Ends in order, and only then breaks its streams. */
  async stop(cut: () => void): Promise<void> {
    const { leases } = this;
    await this.machine.run(() => leases.close());
    await simulatedPause(this.#world.delayMs());
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
    const { leases, frozenMs } = this;
    const version = await this.#world.statement(this.machine, () => ++table.version).catch(() => undefined);
    // It is not known whether that was committed: nobody is told that it was.
    if (version === undefined) return;
    const committedMs = performance.now();
    await leases.settle();
    const tookMs = performance.now() - committedMs;
    expect(tookMs, 'time until it is acknowledged').toBeLessThan(COMMIT_MS_MAX + this.frozenMs - frozenMs);
    table.acknowledged = Math.max(table.acknowledged, version);
    outcome.commits += 1;
  }

  #start(): CacheLeases {
    const world = this.#world;
    const { machine } = this;
    const { postgres, registrations } = world;
    const isHearing = (): boolean => this.hears;
    const statement = <T>(effect: () => T): Promise<T> => world.statement(machine, effect);
    const postgresMs = (): number => postgres.clockMs(simulatedMs());
    const store: LeaseStore = {
      get hears() {
        return isHearing();
      },
      register: (process, leaseMs) =>
        statement(() => void registrations.set(process, { leaseMs, endMs: postgresMs() + leaseMs })),
      remove: (process) => statement(() => void registrations.delete(process)),
      others: (process) =>
        statement(() =>
          [...registrations]
            .filter(([name, { endMs }]) => name !== process && endMs > postgresMs())
            .map(([name, { leaseMs }]) => ({ process: name, leaseMs })),
        ),
      notify: (message) =>
        statement(() => {
          for (const catalog of world.catalogs) {
            world.send(postgres, catalog.machine, () => catalog.notified(message));
          }
        }),
    };
    return machine.run(() => new CacheLeases(store, LEASE_MS, silentLogger));
  }

  notified(message: LeaseMessage): void {
    if (this.listens) this.leases.heard(message);
  }
}

/** A coordinator that reads the table, and relies on what it knows where its lease says so. */
class Coordinator {
  readonly machine: Machine;
  readonly #world: World;
  readonly #home: number;
  #lease: AnswerLease;
  #known: { readonly version: number; readonly asked: AskedAt | null } | undefined;
  /** Breaks the stream of the lease. */
  breakWire: () => void = () => undefined;

  constructor(world: World, home: number) {
    this.#world = world;
    this.#home = home;
    this.machine = machineOfDrift(`coordinator ${home}`, DRIFT, world.random);
    this.#lease = this.#start();
  }

  restart(): void {
    this.#lease.close();
    this.#known = undefined;
    this.#lease = this.#start();
  }

  async read(): Promise<void> {
    const { table, outcome } = this.#world;
    const promised = table.acknowledged;
    const isRelied = this.#known !== undefined && this.#lease.holds(this.#known.asked);
    const version = isRelied ? this.#known?.version : await this.#ask();
    // Nobody answered in time.
    if (version === undefined) return;
    expect(version, `read at ${simulatedMs()} ms`).toBeGreaterThanOrEqual(promised);
    outcome.reads += 1;
    outcome.relied += isRelied ? 1 : 0;
  }

  async #ask(): Promise<number | undefined> {
    const { wires, table, postgres, random, lossy } = this.#world;
    const lease = this.#lease;
    const asked = lease.askedAt();
    const { machine } = this.#catalog();
    const answer = wires.ask(this.machine, machine, () => wires.ask(machine, postgres, () => table.version));
    const version = await within(STATEMENT_MS, answer).catch(() => undefined);
    if (version === undefined) return undefined;
    if (lease === this.#lease && !random.chance(lossy)) this.#known = { version, asked };
    return version;
  }

  #catalog(): Catalog {
    return this.#world.catalogs[this.#home] ?? expect.fail('a catalog');
  }

  #start(): AnswerLease {
    return new AnswerLease(({ lease, broken }) => this.#open(lease, broken));
  }

  #open(lease: (message: Lease) => void, broken: () => void): LeaseWire {
    const world = this.#world;
    const { machine: here } = this;
    const { leases, machine: there } = this.#catalog();
    let isOpen = true;
    const through = (from: Machine, to: Machine, arrive: () => void): void =>
      world.send(from, to, () => (isOpen ? arrive() : undefined));
    const holder = leases.open((message) => through(there, here, () => lease(message)));
    this.breakWire = () => {
      isOpen = false;
      world.findOut(there, () => leases.lose(holder));
      world.findOut(here, broken);
    };
    return {
      send: (request) => through(here, there, () => void leases.renew(holder, request)),
      end: () => through(here, there, () => leases.release(holder)),
    };
  }
}

async function fault({ random, catalogs, coordinators, wires, machines, postgres }: World): Promise<void> {
  const at = random.below(SERVICES);
  const [catalog, coordinator] = [must(catalogs[at], 'a catalog'), must(coordinators[at], 'a coordinator')];
  const holdMs = random.pick(HOLDS_MS) * 2 * random.fraction();
  const kind = random.below(10);
  if (kind === 0) coordinator.breakWire();
  else if (kind === 1) catalog.deafen();
  else if (kind === 2) coordinator.machine.deliver(() => coordinator.restart());
  else if (kind === 3) await catalog.stop(() => coordinator.breakWire());
  else if (kind === 4) {
    catalog.restart();
    coordinator.breakWire();
  } else if (kind === 5) {
    const machine = random.pick([catalog.machine, coordinator.machine, postgres]);
    machine.freeze(true);
    await simulatedPause(holdMs);
    for (const one of catalogs) one.frozenMs += holdMs;
    machine.freeze(false);
  } else await cutSome(wires, { random, machines, holdMs });
}

/** Runs readers, writers and faults from a seed. Fails at the first read that misses what was acknowledged before it began. */
export function simulateLeases(seed: number): Promise<Outcome> {
  return inSimulatedTime(async () => {
    const world = new World(seed);
    const { random } = world;
    const running: Promise<void>[] = [];
    const repeat = async (everyMs: number, work: () => Promise<void> | void, pauses = 0): Promise<void> => {
      await simulatedPause(everyMs * random.fraction());
      while (simulatedMs() <= SIMULATED_MS) {
        await work();
        const pauseMs = random.chance(pauses) ? 4 * LEASE_MS * random.fraction() : 0;
        await simulatedPause(pauseMs + everyMs * 2 * random.fraction());
      }
    };
    const inMachine = (machine: Machine, work: () => Promise<void>) => (): void => {
      machine.deliver(() => running.push(work()));
    };
    const loops = [
      ...world.coordinators.map((one) =>
        repeat(
          random.pick(READS_MS),
          inMachine(one.machine, () => one.read()),
          PAUSES,
        ),
      ),
      ...world.catalogs.map((one) =>
        repeat(
          random.pick(COMMITS_MS),
          inMachine(one.machine, () => one.commit()),
        ),
      ),
      repeat(random.pick(FAULTS_MS), () => void running.push(fault(world))),
    ];
    const settled = Promise.allSettled(loops);
    await vi.advanceTimersByTimeAsync(SIMULATED_MS + 1);
    world.lossy = 0;
    await vi.runAllTimersAsync();
    await settled;
    await Promise.all(running);
    return world.outcome;
  });
}
