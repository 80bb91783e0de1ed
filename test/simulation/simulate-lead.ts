import { expect, vi } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { silentLogger } from '#shared/log/logger.ts';
import type { Candidate, Election, LeadProof } from '#shared/membership/election.ts';
import { etcdElection } from '#shared/membership/etcd-election.ts';
import { Random } from '#test/fuzz/random.ts';
import { EtcdModel, etcdClientModel } from './etcd-model.ts';
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
 * Two coordinators that stand for the lead, on etcd, Postgres and a catalog that are made up, in time that is made up: the election, the lease
 * in etcd and the terms are the real ones. Ways between any two of them are cut, in one direction or both; coordinators stand still and start
 * anew; and every machine's clock has a rate of its own.
 */
const TTL_MS = 5_000;
const FAULTY_MS = 90_000;
/** After the last fault someone leads, and commits, within this time. */
const HEALED_MS = 30_000;
/** Clocks go wrong by this part at most: two of them differ by less than `RELIED_PART` allows. */
const DRIFT = 0.02;
/** Longest commit. */
const COMMIT_MS = 10_000;
/** Each run has one of each. */
const FAULTS_MS = [1_000, 4_000, 12_000];
const HOLDS_MS = [500, 6_000, 20_000];

export type LeadOutcome = { readonly terms: number; readonly commits: number; readonly refused: number };

/** The row `coordinator.lead` (`coordinator/history/lead-lease.ts`), and what the catalog has committed. */
class PostgresModel {
  readonly machine: Machine;
  readonly commits: { readonly n: number; readonly epoch: number }[] = [];
  refused = 0;
  epoch = 0;
  #lead: { epoch: number; candidate: Candidate; untilMs: number } | undefined;

  constructor(machine: Machine) {
    this.machine = machine;
  }

  take(candidate: Candidate): number | undefined {
    const lead = this.#lead;
    const isFree = lead === undefined || lead.untilMs < this.#nowMs() || lead.candidate.id === candidate.id;
    if (!isFree) return undefined;
    this.epoch += 1;
    this.#lead = { epoch: this.epoch, candidate, untilMs: this.#nowMs() + TTL_MS };
    return this.epoch;
  }

  renew(epoch: number): boolean {
    if (this.#lead?.epoch !== epoch) return false;
    this.#lead.untilMs = this.#nowMs() + TTL_MS;
    return true;
  }

  release(epoch: number): void {
    if (this.#lead?.epoch === epoch) this.#lead.untilMs = -Infinity;
  }

  holder(): Candidate | undefined {
    return this.#lead !== undefined && this.#lead.untilMs >= this.#nowMs() ? this.#lead.candidate : undefined;
  }

  /** As `catalog/store/postgres/coordinator-term.ts` has it. @throws NOT_ACTIVE */
  commit(n: number, epoch: number): void {
    if (this.#lead?.epoch !== epoch) {
      this.refused += 1;
      throw new SkeinError('NOT_ACTIVE', 'another coordinator has taken the lead');
    }
    this.commits.push({ n, epoch });
  }

  #nowMs(): number {
    return this.machine.clockMs(simulatedMs());
  }
}

/** The lease in Postgres as one coordinator holds it. */
class ProofModel implements LeadProof {
  readonly #machine: Machine;
  readonly #postgres: PostgresModel;
  readonly #wires: Wires;
  readonly #candidate: Candidate;
  epoch = 0;

  constructor(machine: Machine, candidate: Candidate, { postgres, wires }: World) {
    this.#machine = machine;
    this.#postgres = postgres;
    this.#wires = wires;
    this.#candidate = candidate;
  }

  async take(): Promise<boolean> {
    const epoch = await this.#ask(() => this.#postgres.take(this.#candidate));
    if (epoch === undefined) return false;
    this.epoch = epoch;
    return true;
  }

  renew(): Promise<boolean> {
    const { epoch } = this;
    return this.#ask(() => this.#postgres.renew(epoch));
  }

  holder(): Promise<Candidate | undefined> {
    return this.#ask(() => this.#postgres.holder());
  }

  async release(): Promise<void> {
    const { epoch } = this;
    await this.#ask(() => this.#postgres.release(epoch)).catch(() => undefined);
  }

  #ask<T>(work: () => T): Promise<T> {
    return within(TTL_MS, this.#wires.ask(this.#machine, this.#postgres.machine, work));
  }
}

class World {
  readonly random: Random;
  readonly wires: Wires;
  readonly etcd: EtcdModel;
  readonly postgres: PostgresModel;
  readonly catalog: Machine;
  readonly coordinators: Coordinator[] = [];
  readonly acknowledged: number[] = [];
  readonly overlaps: string[] = [];
  #numbers = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.wires = new Wires(this.random);
    this.etcd = new EtcdModel(this.machine('etcd'));
    this.postgres = new PostgresModel(this.machine('Postgres'));
    this.catalog = this.machine('catalog');
    for (const name of ['a', 'b']) this.coordinators.push(new Coordinator(name, this));
  }

  get machines(): readonly Machine[] {
    return [this.etcd.machine, this.postgres.machine, this.catalog, ...this.coordinators.map(({ machine }) => machine)];
  }

  machine(name: string): Machine {
    return machineOfDrift(name, DRIFT, this.random);
  }

  number(): number {
    return this.#numbers++;
  }
}

class Coordinator {
  readonly machine: Machine;
  readonly #world: World;
  #election: Election;
  #lives = 0;
  /** The end of the term that it serves, as it knows; undefined = none. */
  leads: AbortSignal | undefined;

  constructor(name: string, world: World) {
    this.machine = world.machine(name);
    this.#world = world;
    this.#election = this.#stand();
  }

  restart(): void {
    const { machine } = this;
    machine.deliver(() => {
      void this.#election.close();
      this.#election = this.#stand();
    });
  }

  close(): void {
    this.machine.run(() => void this.#election.close());
  }

  #stand(): Election {
    const { machine } = this;
    const world = this.#world;
    const candidate = { id: `${machine.name}${this.#lives++}`, url: `http://${machine.name}` };
    return machine.run(() => {
      const proof = new ProofModel(machine, candidate, world);
      return etcdElection(
        {
          etcd: { endpoints: [], prefix: '/', leaseTtlMs: TTL_MS, log: silentLogger },
          name: 'coordinator',
          candidate,
          proof,
          fitness: { isFit: () => true, yields: () => false },
          open: () => etcdClientModel(machine, world.etcd, world.wires),
        },
        (lost, started) => this.#lead(proof.epoch, lost, started),
      );
    });
  }

  async #lead(epoch: number, lost: AbortSignal, started: () => void): Promise<void> {
    const { coordinators, overlaps } = this.#world;
    const others = coordinators.filter((one) => one !== this && !one.machine.isFrozen);
    // Thrown here, the election would only try again.
    if (others.some(({ leads }) => leads?.aborted === false)) overlaps.push(`two lead at ${simulatedMs()} ms`);
    this.leads = lost;
    started();
    while (!lost.aborted) {
      await this.#commit(epoch).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async #commit(epoch: number): Promise<void> {
    const { wires, catalog, postgres, acknowledged } = this.#world;
    const n = this.#world.number();
    const commit = (): Promise<void> => wires.ask(catalog, postgres.machine, () => postgres.commit(n, epoch));
    await within(COMMIT_MS, wires.ask(this.machine, catalog, commit));
    acknowledged.push(n);
  }
}

async function fault({ random, machines, wires, coordinators }: World): Promise<void> {
  const holdMs = random.pick(HOLDS_MS) * 2 * random.fraction();
  const kind = random.below(6);
  const coordinator = random.pick(coordinators);
  if (kind === 0) coordinator.restart();
  else if (kind === 1) {
    coordinator.machine.freeze(true);
    await simulatedPause(holdMs);
    coordinator.machine.freeze(false);
  } else await cutSome(wires, { random, machines, holdMs });
}

/** Runs an election with faults from a seed. Fails when two lead, a term commits after a later one, or a commit is lost or invented. */
export function simulateLead(seed: number): Promise<LeadOutcome> {
  return inSimulatedTime(async () => {
    const world = new World(seed);
    const { random, postgres, acknowledged, coordinators } = world;
    const everyMs = random.pick(FAULTS_MS);
    const faults: Promise<void>[] = [];
    const plan = async (): Promise<void> => {
      while (simulatedMs() < FAULTY_MS) {
        await simulatedPause(everyMs * 2 * random.fraction());
        faults.push(fault(world));
      }
      await Promise.all(faults);
      const healed = postgres.commits.length;
      await simulatedPause(HEALED_MS);
      expect(postgres.commits.length, 'commits after all faults').toBeGreaterThan(healed + 10);
      const leading = coordinators.filter(({ leads }) => leads !== undefined && !leads.aborted);
      expect(leading).toHaveLength(1);
    };
    const progress = { isOver: false };
    const planned = plan().finally(() => (progress.isOver = true));
    planned.catch(() => undefined);
    while (!progress.isOver) await vi.advanceTimersByTimeAsync(1_000);
    await planned;
    expect(world.overlaps).toEqual([]);
    const epochs = postgres.commits.map(({ epoch }) => epoch);
    expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
    const committed = postgres.commits.map(({ n }) => n);
    expect(new Set(committed).size).toBe(committed.length);
    expect(acknowledged.filter((n) => !committed.includes(n))).toEqual([]);
    for (const coordinator of coordinators) coordinator.close();
    await vi.advanceTimersByTimeAsync(2 * TTL_MS);
    return { terms: postgres.epoch, commits: committed.length, refused: postgres.refused };
  });
}
