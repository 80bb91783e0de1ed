import { testTpcdsFragments } from './test-fragments.ts';

await testTpcdsFragments(['auto', 'broadcast']);
