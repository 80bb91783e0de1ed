import { testDistributedTpch } from './distributed-tpch.ts';

/** With one slot each: tasks wait for each other. Left to `.ci/run`. */
testDistributedTpch(3, 1);
