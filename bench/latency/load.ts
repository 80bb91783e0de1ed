import { quantile } from '../report/statistics.ts';

export type LoadFigures = {
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
): Promise<LoadFigures> {
  const { times, elapsedMs } = await turn({ clients, request }, seconds * 1_000);
  return figures(clients, times, elapsedMs);
}

/** Statements that a number of clients make. */
export type Load = { readonly clients: number; readonly request: (client: number) => Promise<void> };

/** Turns of each load: between two that are compared, the machine has little time to change. */
const TURNS = 4;

/** Several loads of `seconds` each, which take turns; each turn has a warm-up of its own. */
export async function loadInTurns<T extends Load>(
  loads: readonly T[],
  seconds: number,
): Promise<readonly (T & LoadFigures)[]> {
  const measured = loads.map((load) => ({ load, times: [] as number[], elapsedMs: 0 }));
  const turnMs = (seconds * 1_000) / TURNS;
  for (let i = 0; i < TURNS; i++) {
    for (const one of measured) {
      const { times, elapsedMs } = await turn(one.load, turnMs);
      one.times.push(...times);
      one.elapsedMs += elapsedMs;
    }
    process.stderr.write('.');
  }
  return measured.map(({ load, times, elapsedMs }) => ({ ...load, ...figures(load.clients, times, elapsedMs) }));
}

/** One measurement, after a warm-up of a fifth of its time. */
async function turn(
  { clients, request }: Load,
  durationMs: number,
): Promise<{ readonly times: readonly number[]; readonly elapsedMs: number }> {
  await loop(clients, durationMs / 5, request);
  const started = performance.now();
  const times = await loop(clients, durationMs, request);
  return { times, elapsedMs: performance.now() - started };
}

const figures = (clients: number, times: readonly number[], elapsedMs: number): LoadFigures => ({
  clients,
  requests: times.length,
  p50Ms: quantile(times, 0.5),
  p99Ms: quantile(times, 0.99),
  perSecond: (times.length * 1_000) / elapsedMs,
});

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
