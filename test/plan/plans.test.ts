import { describe, expect, test } from 'vitest';
import { explainDistributed } from '#coordinator/distributor/explain-distributed.ts';
import { parseJson } from '#shared/json.ts';
import { tpcdsQueries } from '#test/tpcds/tpcds.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';
import { tpcdsPlans, tpchPlans } from './benchmark-plans.ts';

/**
 * Golden files of the distributed plans of both benchmarks at scale 100, over tables without data: they show the effect of a change of the
 * distributor.
 */
const SUITES = [
  { suite: 'tpch', plan: await tpchPlans(), queries: TPCH_QUERIES },
  { suite: 'tpcds', plan: await tpcdsPlans(), queries: await tpcdsQueries() },
];

describe.each(SUITES)('$suite', ({ suite, plan, queries }) => {
  test.each(queries)('$name', async ({ name, sql }) => {
    const made = await plan(sql.replace(/;\s*$/, ''));
    const text = explainDistributed(made.plan, made, 'text').join('\n');
    await expect(`${text}\n`).toMatchFileSnapshot(`golden/${suite}/${name}.txt`);
    const [json = ''] = explainDistributed(made.plan, made, 'json');
    expect(parseJson(json)).toMatchObject({ distributed: made.plan.kind === 'distributed' });
  });
});
