import { testTpcdsFragments } from './test-fragments.ts';

// The distribution that moves the most rows; `fragments.full.test.ts` tests the others.
await testTpcdsFragments(['partitioned']);
