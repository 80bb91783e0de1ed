import { expect, test } from 'vitest';
import { sharedCluster } from '#test/support/resources.ts';
import { tpchAnswers } from '#test/support/tpch-duckdb.ts';
import { TPCH_QUERIES } from './tpch-queries.ts';
import { tpchSuite } from './tpch-suite.ts';

test('there are 22 queries', () => expect(TPCH_QUERIES.length).toBe(22));

// The files ship with the project.
tpchSuite('0.01', async () => ({ cluster: (await sharedCluster()).cluster, answers: tpchAnswers() }));
