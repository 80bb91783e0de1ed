import { quantile } from '../report/statistics.ts';

export type Figures = {
  readonly clients: number;
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly perSecond: number;
};

/**
 * A closed loop: each of `clients` calls `request` again as soon as it was answered, for `seconds` after a warm-up of a fifth of that.
 * A request that fails ends the measurement.
 */
export async function load(
  clients: number,
  seconds: number,
  request: (client: number) => Promise<void>,
): Promise<Figures> {
  await loop(clients, (seconds * 1_000) / 5, request);
  const started = performance.now();
  const times = await loop(clients, seconds * 1_000, request);
  const elapsedSeconds = (performance.now() - started) / 1_000;
  return {
    clients,
    requests: times.length,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    perSecond: times.length / elapsedSeconds,
  };
}

async function loop(
  clients: number,
  durationMs: number,
  request: (client: number) => Promise<void>,
): Promise<readonly number[]> {
  const end = performance.now() + durationMs;
  const times: number[] = [];
  const client = async (id: number): Promise<void> => {
    while (performance.now() < end) {
      const started = performance.now();
      await request(id);
      times.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, id) => client(id)));
  return times;
}
