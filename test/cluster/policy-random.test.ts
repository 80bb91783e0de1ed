import { sharedCluster } from '#test/support/resources.ts';
import { testRandomPolicies } from './policy-random.ts';

/** On two workers, through every door. */
testRandomPolicies(async () => (await sharedCluster()).cluster, {
  tenant: 'policy_random',
  rounds: 3,
  queries: 5,
  doors: ['http', 'flight', 'postgres'],
});
