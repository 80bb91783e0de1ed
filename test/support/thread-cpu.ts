/** Runs whose best counts: a collection of garbage, or a pattern that is compiled, falls into one of them. */
const RUNS = 3;

/** Milliseconds that this thread computes for `work`, whatever else the machine does meanwhile. */
export function threadCpuMs(work: () => void, runs = RUNS): number {
  const times = Array.from({ length: runs }, () => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}
