import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedFixture } from '#test/support/resources.ts';
import { ClusterEngine } from './cluster-engine.ts';
import { runSlt } from './run-slt.ts';
import { parseSlt } from './slt-file.ts';

/** Longest time of SELECT 1 right after a refused statement. */
const NEXT_ANSWER_MS_MAX = 1_000;

test('hostile.slt: each statement is refused with its SQLSTATE, and the next query is answered at once', async () => {
  const { cluster, names } = await sharedFixture();
  const file = join(import.meta.dirname, 'cluster/hostile.slt');
  const records = parseSlt(await readFile(file, 'utf8'), names);
  expect(await runSlt(records, new ClusterEngine(cluster, randomUUID()), () => nextAnswer(cluster))).toEqual([]);
}, 300_000);

async function nextAnswer(cluster: Cluster): Promise<string | null> {
  const started = performance.now();
  const { status } = await cluster.query('SELECT 1');
  const tookMs = performance.now() - started;
  return status === 200 && tookMs < NEXT_ANSWER_MS_MAX
    ? null
    : `the next SELECT 1: HTTP ${status} after ${tookMs.toFixed(0)} ms`;
}
