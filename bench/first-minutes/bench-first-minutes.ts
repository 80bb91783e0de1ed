import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { must } from '#shared/must.ts';
import { childrenOf } from '#test/support/child-processes.ts';
import { startCluster } from '#test/support/cluster.ts';
import { benchDataDir, startBenchCluster } from '../bench-cluster.ts';
import { KeepAliveClient } from '../http/keep-alive-client.ts';
import { pointQuery } from '../latency/latency-cases.ts';
import { printTable } from '../report/print-table.ts';
import { quantile } from '../report/statistics.ts';
import { writeResult } from '../report/write-result.ts';

/** 150,000 orders. */
const SCALE = '0.1';
/** Time without a request, after which the memory is that of an idle cluster. */
const IDLE_MS = 20_000;
const CLIENTS = [1, 16] as const;

type Answers = {
  readonly clients: number;
  readonly perSecond: readonly number[];
  readonly p50Ms: number;
  readonly p99Ms: number;
};

/**
 * Measures a cluster that has just started: the point queries that one client and sixteen get answered in each of the first seconds, each with a
 * start of its own, and the memory of all its processes when nobody has asked for anything.
 */
export async function benchFirstMinutes({ seconds }: { readonly seconds: number }): Promise<void> {
  await (await startBenchCluster(SCALE)).cluster.stop();
  const runs: Answers[] = [];
  for (const clients of CLIENTS) runs.push(await answersFromTheFirst(clients, seconds));
  const idle = await idleMemory();
  const [one, many] = [must(runs[0], 'one client'), must(runs[1], 'sixteen clients')];
  const ofOne = quantile(one.perSecond, 0.5);
  const figures = {
    leastRateRatio: Math.min(...many.perSecond) / ofOne,
    tailRatio: many.p99Ms / many.p50Ms,
    idleMib: idle.mib,
    idleProcesses: idle.processes,
  };
  const rows = runs.map((run) => [
    String(run.clients),
    run.p50Ms.toFixed(1),
    run.p99Ms.toFixed(1),
    run.perSecond.join(' '),
  ]);
  await writeResult('first-minutes', {
    table: `${printTable(['clients', 'p50 ms', 'p99 ms', 'answers in each second from the start'], rows)}

the slowest second of ${many.clients} clients: ${figures.leastRateRatio.toFixed(2)} x a second of one client; p99 ${figures.tailRatio.toFixed(1)} x p50
idle: ${idle.mib.toFixed(0)} MiB in ${idle.processes} processes`,
    figures: { ...figures, runs },
    chart: {
      title: 'Answers in each of the first seconds',
      unit: 'a second',
      labels: Array.from({ length: seconds }, (_, second) => String(second + 1)),
      series: runs.map((run, index) => ({
        name: `${run.clients} clients`,
        color: index === 0 ? '#64748b' : '#2563eb',
        values: run.perSecond,
      })),
    },
  });
}

async function answersFromTheFirst(clients: number, seconds: number): Promise<Answers> {
  const cluster = await startCluster({ dataDir: benchDataDir(SCALE) });
  const client = new KeepAliveClient(cluster.queryUrl, await cluster.token());
  const point = pointQuery(Number(SCALE));
  const began = performance.now();
  const end = began + seconds * 1_000;
  const perSecond = Array.from({ length: seconds }, () => 0);
  const times: number[] = [];
  const ask = async (): Promise<void> => {
    for (let from = began; from < end; from = performance.now()) {
      await client.post(JSON.stringify({ sql: point('lake.tpch.orders') }));
      const now = performance.now();
      times.push(now - from);
      const second = Math.floor((now - began) / 1_000);
      if (second < seconds) perSecond[second] = (perSecond[second] ?? 0) + 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: clients }, ask));
  } finally {
    client.close();
    await cluster.stop();
  }
  return { clients, perSecond, p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) };
}

/** Memory of all processes of a cluster that nobody uses, in MiB; a page that several share counts once. */
async function idleMemory(): Promise<{ readonly mib: number; readonly processes: number }> {
  const cluster = await startCluster({ dataDir: benchDataDir(SCALE) });
  try {
    await sleep(IDLE_MS);
    const pids = await descendants(must(cluster.child.pid, 'the launcher runs'));
    const kib = await Promise.all(pids.map(proportionalKib));
    return { mib: kib.reduce((sum, each) => sum + each, 0) / 1_024, processes: pids.length };
  } finally {
    await cluster.stop();
  }
}

async function descendants(pid: number): Promise<readonly number[]> {
  const children = await childrenOf(pid);
  return [pid, ...(await Promise.all(children.map(descendants))).flat()];
}

/** The proportional share of a process, which Linux tells; 0 for one that has ended. */
async function proportionalKib(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0);
}
