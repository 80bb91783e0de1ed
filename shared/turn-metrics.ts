import { Histogram, type Registry } from 'prom-client';

/** Interval of the clock readings: a turn is measured to within this time. */
const INTERVAL_MS = 10;
const BUCKETS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Metric names that every service exports about its main thread. */
export const TURN_CPU = 'skein_main_thread_turn_cpu_seconds';
const TURN_DELAY = 'skein_main_thread_delay_seconds';

/**
 * Measures the event loop turns of this thread, which serves all requests: the CPU time between two readings, and the delay of each
 * reading. Both are upper bounds of one turn, by at most the interval. CPU time is the thread's own, so the load of other processes does
 * not affect it.
 *
 * It uses a timer instead of a hook around each callback (async_hooks), which would slow down every request; a reading takes three
 * microseconds, a hundred times a second.
 */
export function measureTurns(registry: Registry): Disposable {
  const histogram = (name: string, help: string): Histogram =>
    new Histogram({ name, help, buckets: BUCKETS, registers: [registry] });
  const turns = histogram(TURN_CPU, 'CPU time of the main thread between two looks at the clock, 10 ms apart');
  const delays = histogram(TURN_DELAY, 'How much later than it should the main thread looks at the clock');
  let lookedAtMs = performance.now();
  let cpu = process.threadCpuUsage();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const cpuNow = process.threadCpuUsage();
    turns.observe((cpuNow.user + cpuNow.system - cpu.user - cpu.system) / 1e6);
    delays.observe(Math.max(0, nowMs - lookedAtMs - INTERVAL_MS) / 1e3);
    lookedAtMs = nowMs;
    cpu = cpuNow;
  }, INTERVAL_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
