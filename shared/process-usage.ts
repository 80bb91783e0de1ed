import { readFile } from 'node:fs/promises';

/** Memory pages of Linux, the one system where `/proc` tells a process's size. */
const PAGE_BYTES = 4096;
/** Unit of the times in `/proc`. */
const TICK_MS = 10;
/** Fields of `/proc/<pid>/stat` after the command's name: CPU time of the process and of the system for it, and resident pages. */
const [USER_TICKS, SYSTEM_TICKS, RESIDENT_PAGES] = [11, 12, 21];

export type ProcessUsage = { readonly cpuMs: number; readonly residentBytes: number };

/** Reads memory and CPU time of a process; undefined when it has ended, and on systems without `/proc`. */
export async function processUsage(pid: number): Promise<ProcessUsage | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  if (stat === '') return undefined;
  // The command's name may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (at: number): number => Number(fields[at]);
  return {
    cpuMs: (field(USER_TICKS) + field(SYSTEM_TICKS)) * TICK_MS,
    residentBytes: field(RESIDENT_PAGES) * PAGE_BYTES,
  };
}
