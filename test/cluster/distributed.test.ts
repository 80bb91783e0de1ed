import { testDistributedTpch } from './distributed-tpch.ts';

testDistributedTpch(2, 2);
