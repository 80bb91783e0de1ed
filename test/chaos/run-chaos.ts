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
  readonly faults: Readonly<Record<string, number>>;
  readonly wrong: readonly string[];
  readonly hung: readonly string[];
  readonly leaks: readonly string[];
};

const CLIENTS = 2;
const QUERY_TIMEOUT_MS = 60_000;
/** A query that has not answered so long after its timeout hangs. */
const HANG_MARGIN_MS = 15_000;
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 3_500;
/** Time in which a healthy cluster must have let go of everything. */
const SETTLE_MS = 25_000;
/** Losing workers may fail a query with these, and with nothing else. */
const EXPECTED_ERRORS: ReadonlySet<string> = new Set(['WORKER_LOST', 'NO_WORKERS', 'QUERY_TIMEOUT']);

type Expected = { readonly name: string; readonly sql: string; readonly rows: readonly (readonly Json[])[] };

/** TPC-H under random faults, from a seed, for so long. */
export async function runChaos(options: { readonly seed: number; readonly forMs: number }): Promise<ChaosReport> {
  await using chaos = await ChaosCluster.start();
  const expected = await loadAndAnswer(chaos.cluster);
  const tally = new Tally();
  const stop = new AbortController();
  const random = seededRandom(options.seed);
  const clients = Array.from({ length: CLIENTS }, (_, i) =>
    askUntil(stop.signal, chaos.cluster, { expected, random: seededRandom(options.seed + i + 1), tally }),
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
  // The healthy cluster answers everything again.
  for (const one of expected) await ask(chaos.cluster, await forcedSession(chaos.cluster, 'auto'), one, tally);
  return { ...tally.report(), leaks };
}

class Tally {
  queries = 0;
  answered = 0;
  readonly refused: Record<string, number> = {};
  readonly faults: Record<string, number> = {};
  readonly wrong: string[] = [];
  readonly hung: string[] = [];

  report(): Omit<ChaosReport, 'leaks'> {
    const { queries, answered, refused, faults, wrong, hung } = this;
    return { queries, answered, refused, faults, wrong, hung };
  }
}

async function loadAndAnswer(cluster: Cluster): Promise<readonly Expected[]> {
  await cluster.load(['tpch', '--scale', '0.01']);
  const answers = tpchAnswers();
  try {
    return await Promise.all(TPCH_QUERIES.map(async (one) => ({ ...one, rows: await answers.rows(one.sql) })));
  } finally {
    await answers.close();
  }
}

const JOINS = ['auto', 'broadcast', 'partitioned'] as const;

async function askUntil(
  stop: AbortSignal,
  cluster: Cluster,
  work: { readonly expected: readonly Expected[]; readonly random: () => number; readonly tally: Tally },
): Promise<void> {
  const { expected, random, tally } = work;
  const sessions = await Promise.all(JOINS.map((join) => forcedSession(cluster, join)));
  while (!stop.aborted) {
    const one = must(expected[Math.floor(random() * expected.length)], 'a query');
    const session = must(sessions[Math.floor(random() * sessions.length)], 'a session');
    await ask(cluster, session, one, tally);
  }
}

async function forcedSession(cluster: Cluster, join: (typeof JOINS)[number]): Promise<string> {
  const sessionId = randomUUID();
  const statements = ['USE lake.tpch', "SET skein.distribution = 'force'", `SET skein.join_distribution = '${join}'`];
  for (const sql of statements) await cluster.sql(sql, { sessionId });
  return sessionId;
}

async function ask(cluster: Cluster, sessionId: string, { name, sql, rows }: Expected, tally: Tally): Promise<void> {
  tally.queries++;
  try {
    const signal = AbortSignal.timeout(QUERY_TIMEOUT_MS + HANG_MARGIN_MS);
    const { status, body } = await cluster.query(sql, { sessionId, timeoutMs: QUERY_TIMEOUT_MS, signal });
    if (status === 200) {
      const difference = differences(body.rows ?? [], rows);
      if (difference === null) tally.answered++;
      else tally.wrong.push(`${name}: ${difference}`);
      return;
    }
    const code = body.error ?? String(status);
    tally.refused[code] = (tally.refused[code] ?? 0) + 1;
    if (!EXPECTED_ERRORS.has(code)) tally.wrong.push(`${name}: ${code}: ${body.message}`);
  } catch (error) {
    // A body that breaks off is how a late error shows; silence is not.
    if (error instanceof DOMException && error.name === 'TimeoutError') tally.hung.push(name);
    else tally.refused['aborted'] = (tally.refused['aborted'] ?? 0) + 1;
  }
}

async function settle(chaos: ChaosCluster): Promise<readonly string[]> {
  const end = performance.now() + SETTLE_MS;
  for (;;) {
    const leaks = await chaos.leaks();
    if (leaks.length === 0 || performance.now() > end) return leaks;
    await sleep(500);
  }
}
