import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '#test/support/cluster.ts';

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
    const before = await gauge(cluster, 'files');
    await Promise.all([round(), sleep(ROUND_MS_MIN)]);
    while ((await gauge(cluster, 'waiting')) > 0) await sleep(LOOK_MS);
    if (rounds >= ROUNDS_MIN && (await gauge(cluster, 'files')) === before) return;
  }
}

async function gauge(cluster: Cluster, name: string): Promise<number> {
  const line = new RegExp(String.raw`^skein_worker_disk_cache_${name}\{.*\} (\d+)$`, 'm');
  const pages = await Promise.all(cluster.workers().map(async ({ metricsUrl }) => (await fetch(metricsUrl)).text()));
  return pages.reduce((sum, page) => sum + Number(line.exec(page)?.[1]), 0);
}
