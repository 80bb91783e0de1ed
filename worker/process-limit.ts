import { readFileSync } from 'node:fs';
import { koffi } from '#shared/native/koffi.ts';
import { residentBytes } from './memory/memory-watch.ts';
import type { Logger } from '#shared/log/logger.ts';

/** RLIMIT_DATA of Linux: private writable memory of the process. */
const RLIMIT_DATA = 2;
/** Memory of a slot's thread itself: stack, JavaScript heap, buffers. */
const SLOT_BYTES = 256 * 2 ** 20;

/** Amount that a later thread adds to the limit: V8 reserves nearly all of it, and uses 40 MB. */
const SPARE_BYTES = 640 * 2 ** 20;

/** Raises the limit for `spares` threads beyond those at the start, so that they take no memory from queries. */
export type AllowThreads = (spares: number) => void;

/**
 * Lets the process use `bytes` of memory, and no more. DuckDB's memory limit does not count the text that an
 * expression makes for the rows of a chunk: `repeat('x' || i, 10000000)` asks for 20 GB whatever the limit says. With this limit the
 * allocation fails, and so does the query (MEMORY_EXHAUSTED); without it the kernel would choose a process to kill. Linux only.
 */
export function limitProcessMemory(bytes: number, slots: number, log: Logger): AllowThreads {
  if (process.platform !== 'linux') return () => undefined;
  const libc = koffi.load(null);
  const getrlimit = libc.func('int getrlimit(int resource, void *limit)') as (
    resource: number,
    limit: object,
  ) => number;
  const setrlimit = libc.func('int setrlimit(int resource, void *limit)') as (
    resource: number,
    limit: object,
  ) => number;
  const limit = new BigUint64Array(2);
  if (getrlimit(RLIMIT_DATA, limit) !== 0) return () => undefined;
  const [, hard = 0n] = limit;
  // Much of VmData is only reserved. The base is therefore the reserved part, plus the allowance for this process.
  const baseBytes = dataBytes() - residentBytes() + bytes + slots * SLOT_BYTES;
  const allow: AllowThreads = (spares) => {
    const wanted = BigInt(baseBytes + spares * SPARE_BYTES);
    limit[0] = wanted < hard ? wanted : hard;
    if (setrlimit(RLIMIT_DATA, limit) !== 0) log.warn('the memory of the process cannot be limited');
  };
  allow(0);
  return allow;
}

/** Bytes of this process that count toward the limit now (VmData). Linux only. */
export function dataBytes(): number {
  const kibibytes = /^VmData:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(kibibytes ?? 0) * 1024;
}
