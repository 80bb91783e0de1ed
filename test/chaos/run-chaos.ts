import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { differences } from '#test/support/compare-rows.ts';
import { tpchAnswers } from '#test/support/tpch-duckdb.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';
import { ChaosCluster } from './chaos-cluster.ts';
import { inflict, randomFault, seededRandom } from './faults.ts';

export type ChaosReport = {
  readonly queries: number;
  readonly answered: number;
  /** Errors that a client may see while workers die, by code. */
  readonly refused: Readonly<Record<string, number>>;
  /** Results that had begun to stream when a worker died. */
  readonly brokenOff: number;
  readonly faults: Readonly<Record<string, number>>;
  /** Tasks that ran again. */
  readonly retries: number;
  /** Events that no fault excuses: wrong rows, an unexpected error, a connection that breaks for another reason. */
  readonly wrong: readonly string[];
  readonly hung: readonly string[];
  readonly leaks: readonly string[];
  /** Queries that the cluster did not answer once all workers were well again. */
  readonly unwell: readonly string[];
};

const CLIENTS = 2;
const QUERY_TIMEOUT_MS = 60_000;
/** A query without an answer this long after its timeout hangs. */
const HANG_MARGIN_MS = 15_000;
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 3_500;
/** Time within which a healthy cluster must have released everything. */
const SETTLE_MS = 25_000;
/** The only errors with which lost workers may fail a query. */
const EXPECTED_ERRORS: ReadonlySet<string> = new Set(['WORKER_LOST', 'NO_WORKERS']);
/**
 * Number of faults for which one query may stay without its answer. A lost task runs again, unless two workers die while they run it, no
 * worker is left, or rows of the result have been sent. Measured: 8 of 3,616 queries for 300 faults in ten minutes; on a machine with ten
 * times more work than it can do, where queries take longer, one query for nine faults; without a second attempt, one for two.
 */
const FAULTS_PER_LOSS = 6;
/**
 * Its result is much larger than the part that the coordinator holds back, so its head is sent long before its end; the results of TPC-H
 * are smaller.
 */
const STREAMS = { name: 'stream', sql: 'SELECT * FROM lineitem ORDER BY l_orderkey, l_linenumber' };

/** Lists what in the report a cluster that survives its faults does not show; empty when all is well. */
export function complaints(report: ChaosReport): readonly string[] {
  const { refused, brokenOff, faults, retries, wrong, hung, leaks, unwell } = report;
  const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0);
  const lost = sum(refused) + brokenOff;
  const lostMax = Math.ceil(sum(faults) / FAULTS_PER_LOSS);
  return [
    ...wrong.map((what) => `wrong: ${what}`),
    ...hung.map((what) => `hung: ${what}`),
    ...leaks.map((what) => `left: ${what}`),
    ...unwell.map((what) => `not well again: ${what}`),
    ...(lost > lostMax ? [`${lost} queries without an answer; ${sum(faults)} faults may cost ${lostMax}`] : []),
    ...(retries === 0 ? ['no fault was felt'] : []),
  ];
}

type Expected = { readonly name: string; readonly sql: string; readonly rows: readonly (readonly Json[])[] };

/** Runs TPC-H under random faults drawn from `seed`, for `forMs`. */
export async function runChaos(options: { readonly seed: number; readonly forMs: number }): Promise<ChaosReport> {
  await using chaos = await ChaosCluster.start();
  const expected = await loadAndAnswer(chaos.cluster);
  const tally = new Tally();
  const stop = new AbortController();
  const random = seededRandom(options.seed);
  const clients = Array.from({ length: CLIENTS }, (_, i) =>
    askUntil(stop.signal, chaos, { expected, random: seededRandom(options.seed + i + 1), tally }),
  );
  const hurting: Promise<unknown>[] = [];
  const end = performance.now() + options.forMs;
  while (performance.now() < end) {
    await sleep(PAUSE_MS_MIN + random() * (PAUSE_MS_MAX - PAUSE_MS_MIN));
    const fault = randomFault(random, chaos.victims);
    tally.faults[fault.kind] = (tally.faults[fault.kind] ?? 0) + 1;
    hurting.push(inflict(fault));
  }
  await Promise.all(hurting);
  stop.abort();
  await Promise.all(clients);
  const leaks = await settle(chaos);
  return { ...tally.report(), retries: await chaos.retries(), leaks, unwell: await unwell(chaos, expected) };
}

/** Runs every query once more, without faults; returns those that fail. */
async function unwell(chaos: ChaosCluster, expected: readonly Expected[]): Promise<readonly string[]> {
  const after = new Tally();
  const session = await forcedSession(chaos.cluster, 'auto');
  for (const one of expected) await ask(chaos, session, one, after);
  const { wrong, hung, refused, brokenOff } = after;
  const lost = Object.entries(refused).map(([code, count]) => `${count} times ${code}`);
  return [...wrong, ...hung, ...lost, ...(brokenOff === 0 ? [] : [`${brokenOff} broken off`])];
}

class Tally {
  queries = 0;
  answered = 0;
  brokenOff = 0;
  readonly refused: Record<string, number> = {};
  readonly faults: Record<string, number> = {};
  readonly wrong: string[] = [];
  readonly hung: string[] = [];

  report(): Omit<ChaosReport, 'retries' | 'leaks' | 'unwell'> {
    const { queries, answered, refused, brokenOff, faults, wrong, hung } = this;
    return { queries, answered, refused, brokenOff, faults, wrong, hung };
  }
}

async function loadAndAnswer(cluster: Cluster): Promise<readonly Expected[]> {
  await cluster.load(['tpch', '--scale', '0.01']);
  const answers = tpchAnswers();
  try {
    const queries = [...TPCH_QUERIES, STREAMS];
    return await Promise.all(queries.map(async (one) => ({ ...one, rows: await answers.rows(one.sql) })));
  } finally {
    await answers.close();
  }
}

const JOINS = ['auto', 'broadcast', 'partitioned'] as const;

async function askUntil(
  stop: AbortSignal,
  chaos: ChaosCluster,
  work: { readonly expected: readonly Expected[]; readonly random: () => number; readonly tally: Tally },
): Promise<void> {
  const { expected, random, tally } = work;
  const sessions = await Promise.all(JOINS.map((join) => forcedSession(chaos.cluster, join)));
  while (!stop.aborted) {
    const one = must(expected[Math.floor(random() * expected.length)], 'a query');
    const session = must(sessions[Math.floor(random() * sessions.length)], 'a session');
    await ask(chaos, session, one, tally);
  }
}

async function forcedSession(cluster: Cluster, join: (typeof JOINS)[number]): Promise<string> {
  const sessionId = randomUUID();
  const statements = ['USE lake.tpch', "SET skein.distribution = 'force'", `SET skein.join_distribution = '${join}'`];
  for (const sql of statements) await cluster.sql(sql, { sessionId });
  return sessionId;
}

async function ask(chaos: ChaosCluster, sessionId: string, { name, sql, rows }: Expected, tally: Tally): Promise<void> {
  tally.queries++;
  const queryId = randomUUID();
  try {
    const signal = AbortSignal.timeout(QUERY_TIMEOUT_MS + HANG_MARGIN_MS);
    const request = { sessionId, queryId, timeoutMs: QUERY_TIMEOUT_MS, signal };
    const { status, body } = await chaos.cluster.query(sql, request);
    if (status === 200) {
      const difference = differences(body.rows ?? [], rows);
      if (difference === null) tally.answered++;
      else tally.wrong.push(`${name}: ${difference}`);
      return;
    }
    const code = body.error ?? String(status);
    if (EXPECTED_ERRORS.has(code)) tally.refused[code] = (tally.refused[code] ?? 0) + 1;
    else tally.wrong.push(`${name}: ${code}: ${body.message}; ${await chaos.logged(queryId)}`);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError') tally.hung.push(name);
    else if (await brokeOff(chaos, { name, queryId, error })) tally.brokenOff++;
    else tally.wrong.push(`${name}: ${String(error)}, ${JSON.stringify(await chaos.recorded(queryId))}`);
  }
}

/** Whether the coordinator has broken the connection because a worker was lost after the head of the result had left. */
async function brokeOff(
  chaos: ChaosCluster,
  { name, queryId, error }: { readonly name: string; readonly queryId: string; readonly error: unknown },
): Promise<boolean> {
  const { cause } = error as { readonly cause?: { readonly code?: string } };
  if (name !== STREAMS.name || cause?.code !== 'UND_ERR_SOCKET') return false;
  const recorded = await chaos.recorded(queryId);
  return recorded?.status === 'failed' && recorded.error_code === 'WORKER_LOST';
}

async function settle(chaos: ChaosCluster): Promise<readonly string[]> {
  const end = performance.now() + SETTLE_MS;
  for (;;) {
    const leaks = await chaos.leaks();
    if (leaks.length === 0 || performance.now() > end) return leaks;
    await sleep(500);
  }
}
