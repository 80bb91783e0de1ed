import { SkeinError } from '#shared/error.ts';
import { tpcdsQueries } from '#test/tpcds/tpcds.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';
import { tpcdsPlans, tpchPlans, type PlanBenchmark } from './benchmark-plans.ts';

/**
 * `npm run plan:coverage`: how many statements of TPC-H and TPC-DS run in fragments, how many whole on one worker and why, how many fail.
 * Ends with 1 when one fails or fewer are distributed than should be.
 */
const SUITES = [
  { name: 'TPC-H', plans: tpchPlans, queries: () => Promise.resolve(TPCH_QUERIES), distributedMin: 22 },
  { name: 'TPC-DS', plans: tpcdsPlans, queries: tpcdsQueries, distributedMin: 95 },
] as const;

type Outcome = { readonly kind: 'distributed' | 'whole' | 'failed'; readonly why: string };

async function outcome(plan: PlanBenchmark, sql: string): Promise<Outcome> {
  try {
    const made = await plan(sql.replace(/;\s*$/, ''));
    if (made.plan.kind === 'whole') return { kind: 'whole', why: made.plan.reason };
    return { kind: 'distributed', why: `${made.plan.fragments.length} fragments` };
  } catch (error) {
    return { kind: 'failed', why: SkeinError.of(error).message };
  }
}

let isGood = true;
for (const { name, plans, queries, distributedMin } of SUITES) {
  const plan = await plans();
  const counts = { distributed: 0, whole: 0, failed: 0 };
  for (const query of await queries()) {
    const { kind, why } = await outcome(plan, query.sql);
    counts[kind] += 1;
    if (kind !== 'distributed') process.stdout.write(`${name} ${query.name}: ${kind}, ${why}\n`);
  }
  process.stdout.write(
    `${name}: ${counts.distributed} distributed, ${counts.whole} on one worker, ${counts.failed} failed\n`,
  );
  isGood &&= counts.failed === 0 && counts.distributed >= distributedMin;
}
process.exit(isGood ? 0 : 1);
