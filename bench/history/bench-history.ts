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
import { startCluster } from '#test/support/cluster.ts';
import { startTestPostgres } from '#test/support/postgres.ts';
import { KeepAliveClient } from '../latency/keep-alive-client.ts';
import { load } from '../latency/load.ts';
import { printTable } from '../report/print-table.ts';
import { median, quantile } from '../report/statistics.ts';
import { writeResult } from '../report/write-result.ts';

const PER_SECOND = 2_000;
/** Records come in bursts, as queries end. */
const BURST_MS = 10;
const CLIENTS = 16;
/** One turn of a cluster that keeps history, or of one that does not. */
const TURN_SECONDS = 2;
/** Turns that do not count: after them, compiled code is as fast as it gets. A service that has nothing to do in between would lose it again. */
const WARM_UP_TURNS = 12;
/** A profile as a query of one task has it. */
const PROFILE = JSON.stringify({
  queries: [{ plan: Array.from({ length: 12 }, () => 'Scan lake.tpch.orders  {rows: 1}') }],
});

/**
 * The writer of the history at 2,000 statements a second: how long a record takes in the way of its statement, how far Postgres is behind,
 * and whether all are there at the end. Then the latency of small statements with history and without, in turns.
 */
export async function benchHistory({ seconds }: { readonly seconds: number }): Promise<void> {
  const writer = await benchWriter(seconds);
  process.stderr.write('.');
  const small = await benchStatements(seconds);
  process.stderr.write('\n');
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
  await writeResult('history', {
    table: `${table}\n\nSELECT 1, ${CLIENTS} clients: p50 ${small.onMs.toFixed(2)} ms with history, ${small.offMs.toFixed(2)} ms without: ${small.ratio.toFixed(3)}, from ${quantile(small.ratios, 0).toFixed(2)} to ${quantile(small.ratios, 1).toFixed(2)} in ${small.ratios.length} turns`,
    figures: { seconds, ...writer, ...small },
    chart: {
      title: `SELECT 1, ${CLIENTS} clients`,
      unit: 'ms',
      labels: ['p50'],
      series: [
        { name: 'with history', color: '#2563eb', values: [small.onMs] },
        { name: 'without', color: '#f59e0b', values: [small.offMs] },
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
        history.record(historyRow(facts, state, { epoch, cuRate: 1 }));
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
  scheduledMs: 1,
  profile: PROFILE,
  classification: null,
});

/**
 * Two clusters side by side, one with history and one without, asked in turns of seconds: the machine's speed drifts more slowly than that.
 * The ratio is the median of those of the turns.
 */
async function benchStatements(seconds: number) {
  await using stack = new AsyncDisposableStack();
  const start = async (history: 'on' | 'off') => {
    const cluster = await startCluster({ args: ['--set', `coordinator.history=${history}`] });
    stack.defer(async () => void (await cluster.stop()));
    const client = stack.adopt(new KeepAliveClient(cluster.queryUrl, await cluster.token()), (open) => open.close());
    return async (): Promise<number> => {
      const { p50Ms } = await load(CLIENTS, TURN_SECONDS, async () => void (await client.post('{"sql":"SELECT 1"}')));
      return p50Ms;
    };
  };
  const [on, off] = [await start('on'), await start('off')];
  const turn = async (isFirstOn: boolean): Promise<{ readonly onMs: number; readonly offMs: number }> => {
    const first = await (isFirstOn ? on : off)();
    const second = await (isFirstOn ? off : on)();
    return isFirstOn ? { onMs: first, offMs: second } : { onMs: second, offMs: first };
  };
  for (let i = 0; i < WARM_UP_TURNS; i++) await turn(i % 2 === 0);
  const turns: Awaited<ReturnType<typeof turn>>[] = [];
  for (let i = 0; i < Math.max(3, seconds / (2 * TURN_SECONDS)); i++) turns.push(await turn(i % 2 === 0));
  const ratios = turns.map(({ onMs, offMs }) => onMs / offMs);
  return {
    onMs: median(turns.map(({ onMs }) => onMs)),
    offMs: median(turns.map(({ offMs }) => offMs)),
    ratio: median(ratios),
    ratios,
  };
}
