import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '#test/support/cluster.ts';
import { diskCacheGauge } from '#test/support/disk-cache-gauge.ts';

/** Rounds of the queries before they are measured. A worker copies a file when a second query has read it. */
const ROUNDS_MIN = 2;
const ROUNDS_MAX = 5;
const LOOK_MS = 200;
/** A slot tells of what it reads once in a second. */
const ROUND_MS_MIN = 1_100;

/** `--set` of a cluster whose workers copy no files. */
export const WITHOUT_COPIES = ['--set', 'worker.disk_cache_size=0'] as const;

/** Runs the queries until the workers have copied the files that they copy (`worker/disk-cache`): they are measured as they run from then on. */
export async function warmUp(cluster: Cluster, round: () => Promise<unknown>): Promise<void> {
  for (let rounds = 1; rounds <= ROUNDS_MAX; rounds++) {
    const before = await diskCacheGauge(cluster, 'files');
    await Promise.all([round(), sleep(ROUND_MS_MIN)]);
    while ((await diskCacheGauge(cluster, 'waiting')) > 0) await sleep(LOOK_MS);
    if (rounds >= ROUNDS_MIN && (await diskCacheGauge(cluster, 'files')) === before) return;
  }
}
