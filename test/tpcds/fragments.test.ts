import { testTpcdsFragments } from './test-fragments.ts';

// The one that moves most rows; `fragments.full.test.ts` has the others.
await testTpcdsFragments(['partitioned']);
