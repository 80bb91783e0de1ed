import { readdirSync, readFileSync } from 'node:fs';
import { koffi } from '#shared/native/koffi.ts';

/** PRIO_PROCESS of Linux; with a thread id it addresses that thread alone. */
const PRIO_PROCESS = 0;
/** A thread of this nice value gets a thirtieth of the time of one at nice 0, when both compete for a core. */
const LOW_NICE = 15;

/** Nice value that threads start with. */
const NORMAL_NICE = 0;
/**
 * Nice value of the threads that run queries, and of DuckDB's threads, which they start: three to one, a core goes to those that plan,
 * answer and pass on, which want it for a moment. A process without privileges may do this, too, because it never goes back.
 */
const QUERY_NICE = 5;

const isLinux = process.platform === 'linux';
const libc = isLinux ? koffi.load(null) : undefined;

const setpriority = libc?.func('int setpriority(int which, int who, int nice)') as
  | ((which: number, who: number, nice: number) => number)
  | undefined;

/** Id of the calling thread, for `setpriority`; 0 except on Linux. */
export function currentThread(): number {
  return libc === undefined ? 0 : (libc.func('int gettid()') as () => number)();
}

/** Lowers a thread's priority below all others; false where the system does not allow it. */
export const lowerPriority = (thread: number): boolean => setNice(thread, LOW_NICE);

/** Gives a thread the priority of those that run queries; false for a thread below it in most processes, which lack the privilege. */
export const restorePriority = (thread: number): boolean => setNice(thread, QUERY_NICE);

/**
 * Restores the priority of every thread of this process, as far as the system allows it. The last thread of an ending process frees its
 * memory, and only then does the parent learn of the end: at a low priority that takes seconds on a busy machine.
 */
export function restorePriorities(): void {
  if (libc === undefined) return;
  for (const thread of readdirSync('/proc/self/task')) setNice(Number(thread), NORMAL_NICE);
}

/** Milliseconds, since a thread began, in which it ran on a core, and in which it wanted one and had none. */
export type CoreTimes = { readonly ranMs: number; readonly waitedMs: number };

const UNKNOWN: CoreTimes = { ranMs: 0, waitedMs: 0 };

/** The times of a thread; 0 where the system does not say. Linux only. */
export function coreTimes(thread: number): CoreTimes {
  if (!isLinux || thread === 0) return UNKNOWN;
  try {
    const [ranNs = '0', waitedNs = '0'] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'latin1').split(' ');
    return { ranMs: Number(ranNs) / 1e6, waitedMs: Number(waitedNs) / 1e6 };
  } catch {
    return UNKNOWN;
  }
}

/** Pages of memory that a thread was the first to touch, since it began; 0 where the system does not say. Linux only. */
export function pagesTouched(thread: number): number {
  if (!isLinux || thread === 0) return 0;
  try {
    // `minflt` of proc_pid_stat(5), the eighth field after the name.
    return Number(readFileSync(`/proc/self/task/${thread}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[7]);
  } catch {
    return 0;
  }
}

function setNice(thread: number, nice: number): boolean {
  return setpriority !== undefined && thread !== 0 && setpriority(PRIO_PROCESS, thread, nice) === 0;
}
