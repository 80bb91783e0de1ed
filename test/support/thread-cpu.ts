import { setTimeout as sleep } from 'node:timers/promises';

/** Number of runs, of which the best counts: a garbage collection or a pattern's compilation falls into one of them. */
const RUNS = 3;

/** CPU time of this thread for `work`, in ms, independent of other load on the machine. */
export function threadCpuMs(work: () => void, runs = RUNS): number {
  const times = Array.from({ length: runs }, () => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

/** The longest turn of this thread during `work`, in CPU ms: the time that another task of the thread would wait. */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  const over = new AbortController();
  const watch = (async (): Promise<void> => {
    while (!over.signal.aborted) {
      const before = process.threadCpuUsage();
      await sleep(1);
      const { user, system } = process.threadCpuUsage(before);
      longestMs = Math.max(longestMs, (user + system) / 1_000);
    }
  })();
  await work();
  over.abort();
  await watch;
  return longestMs;
}
