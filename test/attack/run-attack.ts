import { setTimeout as sleep } from 'node:timers/promises';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { machineMemory } from '#shared/config/machine-memory.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { InspectedProcess } from '#test/support/inspected-process.ts';
import { WorkerMetrics } from '#test/support/worker-metrics.ts';
import { AttackCluster, type Held } from './attack-cluster.ts';
import type { AttackCounts } from './attackers.ts';
import { Victims, type VictimReport } from './victims.ts';

const ATTACKERS = 8;
/** The longest that a client of another tenant waits for anything. */
const WAIT_MS_MAX = 10_000;
/** The longest that a service is away. */
const AWAY_MS_MAX = 3_000;
/** The part of the machine's memory that all processes together may use. */
const MEMORY_SHARE_MAX = 0.6;
/** The second round may leave the processes this many times as large as the first did. */
const GROWTH_MAX = 1.05;
/** Connections that are about to close, files that are open at the moment. */
const HANDLES_MORE_MAX = 16;
const SAMPLE_MS = 250;
/** Time for which the victims run alone before a sample, as a part of the attack's. */
const WARM_UP_SHARE = 0.05;
/** Time in which handles are back, and in which memory is: threads collect their garbage when they were idle for a minute. */
export const SETTLE_MS = { handles: 15_000, memory: 75_000 } as const;
/** Services with state that cannot be rebuilt at once: they must not end at all. */
const STEADY = ['catalog', 'coordinator'] as const;

export type AttackReport = {
  readonly attacks: AttackCounts;
  readonly victims: Omit<VictimReport, 'waits'> & {
    readonly asked: number;
    readonly longestMs: Readonly<Record<string, number>>;
  };
  readonly longestAwayMs: Readonly<Record<string, number>>;
  readonly ended: readonly string[];
  /** Services of another process after the second round than after the first. */
  readonly replaced: readonly string[];
  readonly largestShare: number;
  /** Megabytes of each service, and of the heaps of catalog and coordinator after a collection: before, after a round, after two. */
  readonly megabytes: readonly Readonly<Record<string, number>>[];
  readonly collected: readonly Readonly<Record<string, number>>[];
  readonly handles: readonly Readonly<Record<string, number>>[];
  readonly leaks: readonly string[];
};

/** Lists what in the report violates the isolation of tenants; empty when nothing does. */
export function complaints(report: AttackReport): readonly string[] {
  const { victims, longestAwayMs, ended, largestShare, collected, handles, leaks } = report;
  const caches = cacheMegabytes();
  return [
    ...victims.wrong.map((what) => `wrong: ${what}`),
    ...victims.refused.map((what) => `refused: ${what}`),
    ...Object.entries(victims.longestMs).flatMap(([kind, ms]) =>
      ms > WAIT_MS_MAX ? [`${kind}: waited ${Math.round(ms)} ms`] : [],
    ),
    ...Object.entries(longestAwayMs).flatMap(([name, ms]) => (ms > AWAY_MS_MAX ? [`${name}: away for ${ms} ms`] : [])),
    ...ended.map((name) => `${name} has ended`),
    ...(largestShare > MEMORY_SHARE_MAX ? [`${(largestShare * 100).toFixed(0)} % of the machine's memory`] : []),
    ...STEADY.flatMap((name) => {
      const grown = (collected.at(-1)?.[name] ?? 0) - (collected[0]?.[name] ?? 0);
      return grown > caches[name] ? [`${name}: ${grown.toFixed(0)} MB more after a collection`] : [];
    }),
    ...Object.entries(handles.at(-1) ?? {}).flatMap(([name, count]) => {
      const before = handles[0]?.[name] ?? 0;
      return count > before + HANDLES_MORE_MAX ? [`${name}: ${count} handles, ${before} before`] : [];
    }),
    ...leaks.map((what) => `left: ${what}`),
  ];
}

/**
 * Compares memory after each round, over the processes that lived through both: one that was replaced began with nothing. Rounds of half a
 * minute are too short for it: threads and caches still grow.
 */
export function growth({ megabytes, replaced }: AttackReport): readonly string[] {
  const [first = 0, second = 0] = megabytes
    .slice(1)
    .map((each) => Object.entries(each).reduce((sum, [name, one]) => (replaced.includes(name) ? sum : sum + one), 0));
  return second > first * GROWTH_MAX ? [`memory: ${first} MB after a round, ${second} MB after two`] : [];
}

/** Megabytes that the caches of each service may hold by their default settings. */
function cacheMegabytes(): Readonly<Record<(typeof STEADY)[number], number>> {
  const config = defaultConfig();
  const mebibytes = (bytes: number): number => bytes / 2 ** 20;
  return {
    catalog: mebibytes(config['catalog.manifest_cache_bytes']),
    coordinator: mebibytes(config['coordinator.metadata_cache_bytes']),
  };
}

/** Eight attackers of one tenant and three clients of another, in two equal rounds, on a cluster that runs `INSPECTABLE`. */
export async function runAttack(
  started: StartedCluster,
  options: { readonly seed: number; readonly forMs: number; readonly settleMs: number },
): Promise<AttackReport> {
  const cluster = await AttackCluster.prepare(started);
  const victims = await Victims.prepare(started);
  using inspected = await inspect(cluster);
  const watch = new ProcessWatch(cluster);
  const attacks: Record<string, number> = {};
  const reports: VictimReport[] = [];
  const samples: Sample[] = [];
  // Alone, the victims fill caches and let code be compiled: before every sample, because an attack replaces workers, and one that has just
  // started would grow in the next round.
  const warmUp = (): Promise<VictimReport> =>
    victims.run(AbortSignal.timeout(options.forMs * WARM_UP_SHARE), options.seed);
  await warmUp();
  samples.push(await sample(cluster, inspected));
  watch.start();
  for (const _round of [1, 2]) {
    const attackers = cluster.attack('hostile', options.seed, ATTACKERS);
    reports.push(await victims.run(AbortSignal.timeout(options.forMs / 2), options.seed));
    for (const [name, count] of Object.entries(await attackers.stop())) attacks[name] = (attacks[name] ?? 0) + count;
    reports.push(await warmUp());
    await sleep(options.settleMs);
    samples.push(await sample(cluster, inspected));
  }
  await watch.stop();
  return {
    attacks,
    victims: merge(reports),
    longestAwayMs: watch.longestAwayMs,
    ended: watch.ended,
    replaced: replacedBetween(samples[1], samples[2]),
    largestShare: watch.largestBytes / machineMemory(),
    megabytes: samples.map(({ held }) =>
      Object.fromEntries([...held].map(([name, { residentBytes }]) => [name, Math.round(residentBytes / 1e6)])),
    ),
    collected: samples.map(({ collected }) => collected),
    handles: samples.map(({ held }) => Object.fromEntries(steadyHandles(held))),
    leaks: await leaks(started),
  };
}

type Sample = { readonly held: ReadonlyMap<string, Held>; readonly collected: Readonly<Record<string, number>> };

const total = (held: ReadonlyMap<string, Held>): number =>
  held.values().reduce((sum, { residentBytes, childrenBytes }) => sum + residentBytes + childrenBytes, 0);

function replacedBetween(first: Sample | undefined, second: Sample | undefined): readonly string[] {
  const pids = (one: Sample | undefined): ReadonlyMap<string, Held> => one?.held ?? new Map<string, Held>();
  return [...pids(first)].filter(([name, { pid }]) => pids(second).get(name)?.pid !== pid).map(([name]) => name);
}

/** Handles by process, without Postgres: its number depends on how many connections the pools have open. */
const steadyHandles = (held: ReadonlyMap<string, Held>): readonly (readonly [string, number])[] =>
  [...held].filter(([name]) => name !== 'postgres').map(([name, { handles }]) => [name, handles]);

type Inspected = Disposable & { readonly processes: ReadonlyMap<string, InspectedProcess> };

async function inspect({ cluster }: AttackCluster): Promise<Inspected> {
  const processes = new Map<string, InspectedProcess>();
  for (const name of STEADY) processes.set(name, await InspectedProcess.open(cluster, name));
  return { processes, [Symbol.dispose]: () => processes.forEach((one) => one[Symbol.dispose]()) };
}

async function sample(cluster: AttackCluster, { processes }: Inspected): Promise<Sample> {
  const collected: Record<string, number> = {};
  for (const [name, one] of processes) {
    const { heapBytes, externalBytes } = await one.collectedMemory();
    collected[name] = Math.round((heapBytes + externalBytes) / 2 ** 20);
  }
  return { held: await cluster.held(), collected };
}

function merge(reports: readonly VictimReport[]): AttackReport['victims'] {
  const all = reports.flatMap(({ waits }) => Object.entries(waits));
  const longestMs: Record<string, number> = {};
  for (const [kind, waits] of all) longestMs[kind] = Math.max(longestMs[kind] ?? 0, ...waits);
  return {
    asked: all.reduce((sum, [, waits]) => sum + waits.length, 0),
    longestMs,
    wrong: reports.flatMap(({ wrong }) => wrong),
    refused: reports.flatMap(({ refused }) => refused),
  };
}

/** Tasks, memory and spool that the workers still hold although no query runs. */
async function leaks(cluster: StartedCluster): Promise<readonly string[]> {
  const metrics = WorkerMetrics.of(cluster);
  const found: string[] = [];
  for (const gauge of ['skein_worker_tasks_running', 'skein_worker_memory_granted_bytes', 'skein_worker_spool_bytes']) {
    const value = await metrics.sum(gauge);
    if (value !== 0) found.push(`${gauge} ${value}`);
  }
  return found;
}

/** Samples the processes of a cluster: whether each lives, and their memory and handles. */
class ProcessWatch {
  readonly longestAwayMs: Record<string, number> = {};
  readonly ended: string[] = [];
  largestBytes = 0;
  readonly #cluster: AttackCluster;
  readonly #pids = new Map<string, number>();
  readonly #seenMs = new Map<string, number>();
  #stopped = false;
  #done: Promise<void> = Promise.resolve();

  constructor(cluster: AttackCluster) {
    this.#cluster = cluster;
  }

  start(): void {
    this.#done = this.#run();
  }

  stop(): Promise<void> {
    this.#stopped = true;
    return this.#done;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      for (const { name, pid, state } of await this.#cluster.cluster.services()) {
        const now = performance.now();
        const awayMs = state === 'up' ? 0 : Math.round(now - (this.#seenMs.get(name) ?? now));
        this.longestAwayMs[name] = Math.max(this.longestAwayMs[name] ?? 0, awayMs);
        if (state === 'up') this.#seenMs.set(name, now);
        const before = this.#pids.get(name) ?? pid;
        if (pid !== before && STEADY.some((one) => one === name)) this.ended.push(name);
        this.#pids.set(name, pid);
      }
      this.largestBytes = Math.max(this.largestBytes, total(await this.#cluster.held()));
      await sleep(SAMPLE_MS);
    }
  }
}
