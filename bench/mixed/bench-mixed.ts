import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StartedCluster } from '#test/support/cluster.ts';
import { createViews, startBenchCluster } from '../bench-cluster.ts';
import { printTable } from '../report/print-table.ts';
import { servicesOf } from '../report/process-cpu.ts';
import { median, quantile } from '../report/statistics.ts';
import { writeResult } from '../report/write-result.ts';
import { DuckDbClients } from './duckdb-clients.ts';
import { CLIENTS, KINDS, mixedQueries, type Kind, type MixedQueries } from './mixed-queries.ts';
import { runClients, type Answered } from './run-clients.ts';
import { MIXED_WORKLOAD, SkeinClients } from './skein-clients.ts';

export type MixedOptions = { readonly scale: string; readonly seconds: number; readonly runs: number };

const INTERACTIVE: readonly Kind[] = ['interactive', 'medium'];
const BATCH: readonly Kind[] = ['batch'];
/** Share of `seconds` that the runs of one kind of load alone take. */
const ALONE = 1 / 3;
/** A lone batch query is timed so often with workload management and without, after so many that do not count. */
const LONE_QUERIES = 20;
const LONE_WARM_UP = 3;
const QUEUED = 5_000;

/**
 * A shared cluster: 48 interactive clients, 12 of medium queries and 4 that never stop asking batch queries; and each load alone, in turns. The
 * same mix on one plain DuckDB, which runs all at once. Then the mix again while a worker, and the coordinator, are killed.
 */
export async function benchMixed({ scale, seconds, runs }: MixedOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'skein-bench-'));
  const workload = join(folder, 'workload.yaml');
  await writeFile(workload, MIXED_WORKLOAD);
  const on = ['--set', `coordinator.workload_file=${workload}`];
  const queries = await mixedQueries(Number(scale));
  try {
    const { cluster, files } = await startBenchCluster(scale, { args: on });
    let rounds: readonly Round[];
    const faults: Fault[] = [];
    let queued: Queued;
    try {
      rounds = await runRounds(cluster, { seconds, runs, queries });
      for (const kind of ['worker', 'coordinator'] as const) {
        faults.push(await runWithFault(cluster, kind, { seconds: seconds * ALONE, queries }));
        process.stderr.write('.');
      }
      queued = await runQueued(cluster);
    } finally {
      await cluster.stop();
    }
    const duckdb = await runDuckDb(createViews(files), { seconds, queries });
    process.stderr.write('.');
    const lone = await runLone(scale, on, queries);
    process.stderr.write('\n');
    await report({ scale, seconds, runs }, { rounds, faults, queued, duckdb, lone });
  } finally {
    await rm(folder, { recursive: true });
  }
}

type Load = { readonly seconds: number; readonly queries: MixedQueries };

type Round = {
  readonly mixed: readonly Answered[];
  /** 95th percentile of interactive queries with batch load and without, in ms. */
  readonly p95Ms: number;
  readonly p95AloneMs: number;
  /** Batch queries a second beside the others, and alone. */
  readonly batchRate: number;
  readonly batchAloneRate: number;
  /** Share of the machine's CPU that others than batch queries took: other classes, the coordinator's work for them, the clients. */
  readonly otherShare: number;
  readonly queries: number;
  readonly missing: number;
  readonly coordinatorBytes: number;
};

async function runRounds(
  cluster: StartedCluster,
  { seconds, runs, queries }: Load & { readonly runs: number },
): Promise<readonly Round[]> {
  using clients = await SkeinClients.open(cluster);
  const run = (kinds: readonly Kind[], time: number) =>
    runClients(kinds, { seconds: time, queries, ask: clients.asking() });
  await run(KINDS, Math.min(10, seconds));
  const rounds: Round[] = [];
  for (let round = 0; round < runs; round++) {
    const without = await run(INTERACTIVE, seconds * ALONE);
    const beforeAlone = await clients.cpu();
    const alone = await run(BATCH, seconds * ALONE);
    const before = await clients.cpu();
    const own = process.cpuUsage();
    const mixed = await run(KINDS, seconds);
    const { user, system } = process.cpuUsage(own);
    const after = await clients.cpu();
    const batchAlone = before.slots.batch - beforeAlone.slots.batch;
    // CPU that the cluster takes beside the slots for a second of batch queries on them.
    const overhead = (before.all - beforeAlone.all - batchAlone) / Math.max(1, batchAlone);
    const batch = (after.slots.batch - before.slots.batch) * (1 + overhead);
    const others = after.all - before.all - batch + (user + system) / 1e6;
    rounds.push({
      mixed,
      p95Ms: p95(mixed, 'interactive'),
      p95AloneMs: p95(without, 'interactive'),
      batchRate: rate(mixed, 'batch', seconds),
      batchAloneRate: rate(alone, 'batch', seconds * ALONE),
      otherShare: Math.max(0, others) / (availableParallelism() * seconds),
      queries: clients.answered,
      missing: await clients.missingInHistory(),
      coordinatorBytes: await clients.coordinatorBytes(),
    });
    process.stderr.write('.');
  }
  return rounds;
}

const timesOf = (answered: readonly Answered[], kind: Kind): readonly number[] =>
  answered.filter((one) => one.kind === kind).map(({ elapsedMs }) => elapsedMs);
const p95 = (answered: readonly Answered[], kind: Kind): number => quantile(timesOf(answered, kind), 0.95);

/** Queries a second. One that ended after the time counts for the part of it that lay within. */
function rate(answered: readonly Answered[], kind: Kind, seconds: number): number {
  const endMs = seconds * 1_000;
  const shares = answered
    .filter((one) => one.kind === kind)
    .map(({ atMs, elapsedMs }) => (atMs <= endMs ? 1 : Math.max(0, endMs - (atMs - elapsedMs)) / elapsedMs));
  return shares.reduce((sum, share) => sum + share, 0) / seconds;
}

type Fault = { readonly kind: string; readonly queries: number; readonly again: number; readonly missing: number };

/** The mix while a process is killed in the middle; a query that no coordinator answers is asked again. */
async function runWithFault(
  cluster: StartedCluster,
  kind: 'worker' | 'coordinator',
  { seconds, queries }: Load,
): Promise<Fault> {
  using clients = await SkeinClients.open(cluster);
  const running = runClients(KINDS, { seconds, queries, ask: clients.asking(true) });
  await sleep((seconds * 1_000) / 2);
  const service = (await servicesOf(cluster)).find((one) => one.kind === kind);
  if (service !== undefined) process.kill(service.pid, 'SIGKILL');
  await running;
  return { kind, queries: clients.answered, again: clients.broken, missing: await clients.missingInHistory() };
}

type Queued = {
  readonly queries: number;
  readonly seconds: number;
  readonly missing: number;
  readonly coordinatorBytes: number;
};

/** As many queries at once as the queue holds: each is answered. */
async function runQueued(cluster: StartedCluster): Promise<Queued> {
  using clients = await SkeinClients.open(cluster);
  const ask = clients.asking();
  const startMs = performance.now();
  await Promise.all(
    Array.from({ length: QUEUED }, (_, i) =>
      ask('interactive', `SELECT count(*) FROM nation WHERE n_nationkey <> ${i}`),
    ),
  );
  const seconds = (performance.now() - startMs) / 1_000;
  return {
    queries: clients.answered,
    seconds,
    missing: await clients.missingInHistory(),
    coordinatorBytes: await clients.coordinatorBytes(),
  };
}

async function runDuckDb(views: string, { seconds, queries }: Load): Promise<readonly Answered[]> {
  const clients = KINDS.reduce((sum, kind) => sum + CLIENTS[kind].clients, 0);
  using duckdb = new DuckDbClients(clients);
  await duckdb.ask(0, views);
  // A connection for each query that runs at once.
  const free = Array.from({ length: clients }, (_, i) => i);
  const ask = async (_kind: Kind, sql: string): Promise<void> => {
    const client = free.pop() ?? 0;
    try {
      await duckdb.ask(client, sql);
    } finally {
      free.push(client);
    }
  };
  return await runClients(KINDS, { seconds, queries, ask });
}

type Lone = { readonly onMs: number; readonly offMs: number };

/** One batch query on an idle cluster, with workload management and without: two clusters side by side, asked in turns. */
async function runLone(scale: string, on: readonly string[], queries: MixedQueries): Promise<Lone> {
  await using stack = new AsyncDisposableStack();
  const start = async (options: Parameters<typeof startBenchCluster>[1]) => {
    const { cluster } = await startBenchCluster(scale, options);
    stack.defer(async () => void (await cluster.stop()));
    const ask = stack.use(await SkeinClients.open(cluster)).asking();
    return { ask, times: [] as number[] };
  };
  const managed = await start({ args: on });
  const free = await start({ args: ['--set', 'coordinator.workload=off'], isSecond: true });
  for (let turn = -LONE_WARM_UP; turn < LONE_QUERIES; turn++) {
    for (const { ask, times } of turn % 2 === 0 ? [managed, free] : [free, managed]) {
      const startMs = performance.now();
      await ask('batch', queries('batch', 0, 3));
      if (turn >= 0) times.push(performance.now() - startMs);
    }
  }
  return { onMs: median(managed.times), offMs: median(free.times) };
}

type Results = {
  readonly rounds: readonly Round[];
  readonly faults: readonly Fault[];
  readonly queued: Queued;
  readonly duckdb: readonly Answered[];
  readonly lone: Lone;
};

/** Seconds of a point of the chart. */
const STEP_S = 5;
const COLORS: Readonly<Record<Kind, string>> = { interactive: '#2563eb', medium: '#16a34a', batch: '#b91c1c' };

async function report(options: MixedOptions, { rounds, faults, queued, duckdb, lone }: Results): Promise<void> {
  const { seconds } = options;
  const of = (figure: (round: Round) => number): number => median(rounds.map(figure));
  const p95Ratio = of((one) => one.p95Ms / one.p95AloneMs);
  const throughput = of((one) => one.batchRate / (one.batchAloneRate * (1 - one.otherShare)));
  const missing = [...rounds, ...faults, queued].reduce((sum, one) => sum + one.missing, 0);
  const coordinatorMB = Math.max(...rounds.map((one) => one.coordinatorBytes)) / 2 ** 20;
  const latencies = printTable(
    ['clients', 'p50 ms', 'p95 ms', 'p99 ms', 'a second', 'DuckDB p50 ms', 'p95 ms', 'p99 ms', 'a second'],
    KINDS.map((kind) => {
      const all = rounds.flatMap(({ mixed }) => timesOf(mixed, kind));
      const figures = (times: readonly number[], perSecond: number): readonly string[] => [
        ...(times.length === 0 ? ['-', '-', '-'] : [0.5, 0.95, 0.99].map((share) => quantile(times, share).toFixed(0))),
        perSecond.toFixed(2),
      ];
      return [
        `${CLIENTS[kind].clients} ${kind}`,
        ...figures(
          all,
          of((one) => rate(one.mixed, kind, seconds)),
        ),
        ...figures(timesOf(duckdb, kind), rate(duckdb, kind, seconds)),
      ];
    }),
  );
  const lines = [
    `interactive p95 with batch load to without: ${p95Ratio.toFixed(2)} (${of((one) => one.p95Ms).toFixed(0)} ms to ${of((one) => one.p95AloneMs).toFixed(0)})`,
    `batch queries a second to alone x (1 - share of CPU of the others): ${throughput.toFixed(2)} (${of((one) => one.batchRate).toFixed(2)} to ${of((one) => one.batchAloneRate).toFixed(2)} x (1 - ${of((one) => one.otherShare).toFixed(2)}))`,
    `a lone batch query to the same with coordinator.workload: off: ${(lone.onMs / lone.offMs).toFixed(2)}`,
    ...faults.map(
      (one) =>
        `${one.kind} killed: ${one.queries} queries answered, ${one.again} asked again, ${one.missing} not in the history`,
    ),
    `${queued.queries} queries at once: all answered in ${queued.seconds.toFixed(1)} s, the coordinator had ${(queued.coordinatorBytes / 2 ** 20).toFixed(0)} MiB`,
    `not in the history: ${missing}; before that the coordinator had ${coordinatorMB.toFixed(0)} MiB at most`,
  ];
  const overTime = (name: string, answered: readonly Answered[], isPeer: boolean) =>
    KINDS.map((kind) => ({
      name: `${name} ${kind}`,
      color: COLORS[kind],
      dashed: isPeer,
      values: Array.from({ length: Math.floor(seconds / STEP_S) }, (_, step) => {
        const times = answered
          .filter((one) => one.kind === kind && Math.floor(one.atMs / (STEP_S * 1_000)) === step)
          .map(({ elapsedMs }) => elapsedMs);
        return times.length === 0 ? null : quantile(times, 0.95);
      }),
    }));
  await writeResult('mixed', {
    table: `${latencies}\n\n${lines.join('\n')}`,
    figures: {
      ...options,
      p95Ratio,
      throughput,
      loneRatio: lone.onMs / lone.offMs,
      missing,
      coordinatorMB,
      faults,
      queued,
      rounds: rounds.map(({ mixed: _mixed, ...figures }) => figures),
    },
    chart: {
      title: `Latency by class over time, p95 of ${STEP_S} s; dashed: plain DuckDB`,
      unit: 'ms',
      stepSeconds: STEP_S,
      series: [...overTime('Skein', rounds[0]?.mixed ?? [], false), ...overTime('DuckDB', duckdb, true)],
    },
  });
}
