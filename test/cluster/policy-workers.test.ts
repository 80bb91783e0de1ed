import { afterAll, describe } from 'vitest';
import { must } from '#shared/must.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { testRandomPolicies } from './policy-random.ts';

/** On one worker and on three, with one slot each, so that tasks wait for each other; on two it is `policy-random.test.ts`. Left to `.ci/run`. */
describe.each([1, 3])('on %i workers', (workers) => {
  let cluster: StartedCluster | undefined;
  testRandomPolicies(
    async () => {
      cluster = await startOwnCluster({ workers, args: ['--worker-cores', '1'] });
      return must(cluster, 'a cluster');
    },
    { tenant: 'policy_workers', rounds: 2, queries: 8, doors: ['http'] },
  );
  afterAll(() => cluster?.stop());
});
