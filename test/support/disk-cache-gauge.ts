import type { Cluster } from './cluster.ts';

/** A number that the workers tell of their copies of data files, in all: how many there are, or how many files are to be copied. */
export async function diskCacheGauge(cluster: Cluster, name: 'files' | 'waiting'): Promise<number> {
  const line = new RegExp(String.raw`^skein_worker_disk_cache_${name}\{.*\} (\d+)$`, 'm');
  const pages = await Promise.all(cluster.workers().map(async ({ metricsUrl }) => (await fetch(metricsUrl)).text()));
  return pages.reduce((sum, page) => sum + Number(line.exec(page)?.[1]), 0);
}
