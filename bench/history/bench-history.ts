import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { migrateHistory, nextEpoch, openHistoryDatabase } from '#coordinator/history/history-database.ts';
import { historyRow, type QueryFacts } from '#coordinator/history/history-record.ts';
import { openHistory } from '#coordinator/history/open-history.ts';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { principalId, queryId, tenantId } from '#shared/id.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { startTestPostgres } from '#test/support/postgres.ts';
import { startBenchCluster } from '../bench-cluster.ts';
import { KeepAliveClient } from '../http/keep-alive-client.ts';
import {
  LATENCY_CLIENTS,
  latencyCases,
  occupyEverySlot,
  warmUpStatement,
  type LatencyCase,
} from '../latency/latency-cases.ts';
import { load } from '../latency/load.ts';
import { printTable } from '../report/print-table.ts';
import { median, quantile } from '../report/statistics.ts';
import { writeResult } from '../report/write-result.ts';

const PER_SECOND = 2_000;
/** Records come in bursts, as queries end. */
const BURST_MS = 10;
/** One turn of a case on a cluster that keeps history, or on one that does not. */
const TURN_SECONDS = 0.5;
/** Every so many rounds the slots are occupied, for so many turns of a case. */
const BUSY_EVERY = 5;
const BUSY_TURNS = 3;
/** Turns that do not count: after them, compiled code is as fast as it gets. A service that has nothing to do in between would lose it again. */
const WARM_UP_TURNS = 24;
const WARM_UP_TURN_SECONDS = 2;
/** A profile as a query of one task has it. */
const PROFILE = JSON.stringify({
  queries: [{ plan: Array.from({ length: 12 }, () => 'Scan lake.tpch.orders  {rows: 1}') }],
});

/**
 * The writer of the history at 2,000 statements a second: how long a record takes in the way of its statement, how far Postgres is behind,
 * and whether all are there at the end. Then the latency of small statements with history and without, in turns.
 */
export async function benchHistory(options: { readonly scale: string; readonly seconds: number }): Promise<void> {
  const { scale, seconds } = options;
  const writer = await benchWriter(seconds);
  process.stderr.write('.');
  // A round of all cases takes several seconds; there are as many as the writer had seconds.
  const cases = await benchStatements(scale, seconds);
  process.stderr.write('\n');
  const sum = (of: (one: CaseRatio) => number): number => cases.reduce((total, one) => total + of(one), 0);
  const ratio = sum(({ onMs }) => onMs) / sum(({ offMs }) => offMs);
  const table = printTable(
    ['records', 'a second', 'record p50 us', 'p99 us', 'longest, ms', 'most that waited', 'lost'],
    [
      [
        String(writer.records),
        writer.perSecond.toFixed(0),
        (writer.p50Ms * 1_000).toFixed(0),
        (writer.p99Ms * 1_000).toFixed(0),
        writer.longestMs.toFixed(1),
        String(writer.waitingMost),
        String(writer.lost),
      ],
    ],
  );
  const statements = printTable(
    ['case', 'clients', 'p50 ms with history', 'without', 'ratio'],
    cases.map((one) => [
      one.name,
      String(one.clients),
      one.onMs.toFixed(2),
      one.offMs.toFixed(2),
      (one.onMs / one.offMs).toFixed(3),
    ]),
  );
  const labels = cases.map(({ name, clients }) => `${name} (${clients})`);
  await writeResult('history', {
    table: `${table}\n\n${statements}\n\nsum of the medians with history to without: ${ratio.toFixed(3)}`,
    figures: { scale, seconds, ...writer, ratio, statements: cases },
    chart: {
      title: 'Small statements: median latency',
      unit: 'ms',
      labels,
      series: [
        { name: 'with history', color: '#2563eb', values: cases.map(({ onMs }) => onMs) },
        { name: 'without', color: '#f59e0b', values: cases.map(({ offMs }) => offMs) },
      ],
    },
  });
}

async function benchWriter(seconds: number) {
  await using postgres = await startTestPostgres();
  const folder = await mkdtemp(join(tmpdir(), 'skein-bench-'));
  const db = openHistoryDatabase({ url: postgres.url, poolMax: 4, log: silentLogger });
  try {
    await migrateHistory(db);
    const epoch = await nextEpoch(db);
    const history = await openHistory(defaultConfig({ data_dir: folder }), db, silentLogger);
    const times: number[] = [];
    let waitingMost = 0;
    const startMs = performance.now();
    while (performance.now() < startMs + seconds * 1_000) {
      const due = Math.floor(((performance.now() - startMs) / 1_000) * PER_SECOND);
      while (times.length < due) {
        const facts = newFacts();
        const nowMs = Date.now();
        const done = { rowsProduced: 1, bytesScanned: 1_000, fragments: 1, endedAtMs: nowMs };
        const state = { kind: 'completed', queuedAtMs: nowMs - 2, startedAtMs: nowMs - 1, ...done } as const;
        const begunMs = performance.now();
        history.record({
          recordId: facts.recordId,
          isOpen: false,
          queryType: facts.queryType,
          row: () => historyRow(facts, state, { epoch, cuRate: 1 }),
          profileLater: () => () => PROFILE,
        });
        times.push(performance.now() - begunMs);
      }
      waitingMost = Math.max(waitingMost, history.waiting);
      await sleep(BURST_MS);
    }
    const tookSeconds = (performance.now() - startMs) / 1_000;
    await history.stored(30_000);
    await history.close();
    const { rows } = await sql<{ count: string }>`select count(*) from coordinator.query_history`.execute(db);
    return {
      records: times.length,
      perSecond: times.length / tookSeconds,
      p50Ms: median(times),
      p99Ms: quantile(times, 0.99),
      longestMs: quantile(times, 1),
      waitingMost,
      lost: times.length - Number(rows[0]?.count ?? 0),
    };
  } finally {
    await db.destroy();
    await rm(folder, { recursive: true });
  }
}

const newFacts = (): QueryFacts => ({
  recordId: randomUUID(),
  queryId: queryId(randomUUID()),
  sql: `SELECT o_orderkey, o_totalprice, o_orderdate FROM orders WHERE o_orderkey = ${Math.floor(Math.random() * 1e6)}`,
  principal: principalId(randomUUID()),
  username: 'ann',
  tenant: tenantId('default'),
  queryType: 'select',
  source: 'bench',
  resourceGroup: '/root',
  priority: 3,
  classification: null,
});

type CaseRatio = Pick<LatencyCase, 'name' | 'clients'> & {
  /** Medians over the turns of the p50 with history and without, in ms. */
  readonly onMs: number;
  readonly offMs: number;
};

/** A cluster with its cases, and the p50 of each turn by case, in ms. */
type Asked = { readonly cluster: Cluster; readonly cases: readonly LatencyCase[]; readonly p50s: readonly number[][] };

/**
 * The small statements of `bench -- latency` on two clusters side by side, one with history and one without, asked in turns: the machine's
 * speed drifts by half, and more slowly than a turn takes. They change places half-way, because two clusters are never quite alike.
 */
async function benchStatements(scale: string, rounds: number): Promise<readonly CaseRatio[]> {
  const halves = [await benchHalf(scale, rounds / 2, 'first'), await benchHalf(scale, rounds / 2, 'second')];
  return must(halves[0], 'a half').on.cases.map(({ name, clients }, i) => {
    const medianOf = (which: 'on' | 'off'): number => median(halves.flatMap((half) => half[which].p50s[i] ?? []));
    return { name, clients, onMs: medianOf('on'), offMs: medianOf('off') };
  });
}

/** @param place which of the two clusters keeps history */
async function benchHalf(
  scale: string,
  rounds: number,
  place: 'first' | 'second',
): Promise<{ readonly on: Asked; readonly off: Asked }> {
  await using stack = new AsyncDisposableStack();
  const start = async (history: 'on' | 'off') => {
    const isSecond = (history === 'on') === (place === 'second');
    const { cluster } = await startBenchCluster(scale, { args: ['--set', `coordinator.history=${history}`], isSecond });
    stack.defer(async () => void (await cluster.stop()));
    const client = stack.adopt(new KeepAliveClient(cluster.queryUrl, await cluster.token()), (open) => open.close());
    const ask = async (sql: string): Promise<void> => void (await client.post(JSON.stringify({ sql })));
    return { cluster, ask, scale: Number(scale) };
  };
  const both = [await start('on'), await start('off')];
  const warm = both.map(warmUpStatement);
  for (let i = 0; i < WARM_UP_TURNS; i++)
    await load(Math.max(...LATENCY_CLIENTS), WARM_UP_TURN_SECONDS, must(warm[i % 2], 'a cluster'));
  const [on, off] = await Promise.all([askedOf(must(both[0], 'a cluster')), askedOf(must(both[1], 'a cluster'))]);
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? [on, off] : [off, on];
    for (const [i, { isBusy }] of on.cases.entries()) if (!isBusy) for (const one of order) await turn(one, i);
    if (round % BUSY_EVERY === 0) for (const one of order) await busyTurns(one);
    if (round % 5 === 0) process.stderr.write('.');
  }
  return { on, off };
}

async function askedOf(cluster: Parameters<typeof latencyCases>[0]): Promise<Asked> {
  const cases = await latencyCases(cluster);
  return { cluster: cluster.cluster, cases, p50s: cases.map(() => []) };
}

async function turn({ cases, p50s }: Asked, i: number): Promise<void> {
  const { clients, request } = must(cases[i], 'a case');
  p50s[i]?.push((await load(clients, TURN_SECONDS, request)).p50Ms);
}

/** The cases with a long query on every slot: to start these takes seconds. */
async function busyTurns(one: Asked): Promise<void> {
  const stop = await occupyEverySlot(one.cluster);
  for (const [i, { isBusy }] of one.cases.entries()) {
    if (!isBusy) continue;
    for (let n = 0; n < BUSY_TURNS; n++) await turn(one, i);
  }
  await stop();
}
