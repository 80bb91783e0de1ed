import type { Cluster } from './cluster.ts';
import { patience } from './run/slowness.ts';

/** Reads gauges of all workers over HTTP; made once per cluster, so that a reading costs a millisecond. */
export class WorkerMetrics {
  readonly #urls: readonly string[];

  constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  static of(cluster: Cluster): WorkerMetrics {
    const urls = cluster.workers().map(({ metricsUrl }) => metricsUrl);
    if (urls.length !== cluster.ready.workers) throw new Error('services.json lacks the metrics_url of a worker');
    return new WorkerMetrics(urls);
  }

  /** The gauge's sum over the workers. Throws when a worker does not have it. */
  async sum(gauge: string): Promise<number> {
    const pages = await Promise.all(this.#urls.map(async (url) => (await fetch(url)).text()));
    return pages.reduce((total, page) => total + valueOf(page, gauge), 0);
  }

  /** Waits until the sum fulfils `condition`, longer on a slow machine; answers the moment (performance.now()) at which it was seen. */
  async until(gauge: string, condition: (value: number) => boolean, timeoutMs: number): Promise<number> {
    const end = performance.now() + patience(timeoutMs);
    for (;;) {
      const value = await this.sum(gauge);
      if (condition(value)) return performance.now();
      if (performance.now() > end) throw new Error(`${gauge} is still ${value} after ${timeoutMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}

function valueOf(page: string, gauge: string): number {
  const match = new RegExp(`^${gauge}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(page);
  if (match === null) throw new Error(`no metric ${gauge}`);
  return Number(match[1]);
}
