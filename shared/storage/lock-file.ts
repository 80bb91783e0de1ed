import { fstatSync, statSync } from 'node:fs';
import { koffi } from '#shared/native/koffi.ts';

/** `flock(2)`: exclusive, non-blocking. The kernel releases the lock when the process ends in any way, so it cannot become stale. */
const LOCK_EXCLUSIVE_NONBLOCKING = 2 | 4;

/** Locks open files. Returns false for a file that another open file description has locked. */
export function fileLocker(): (fd: number) => boolean {
  const flock = koffi.load(null).func('int flock(int, int)') as (fd: number, operation: number) => number;
  return (fd) => flock(fd, LOCK_EXCLUSIVE_NONBLOCKING) === 0;
}

/** Whether `path` still names the open file: the one who held its lock before may have removed it. */
export function isSameFile(fd: number, path: string): boolean {
  try {
    const [open, named] = [fstatSync(fd), statSync(path)];
    return open.ino === named.ino && open.dev === named.dev;
  } catch {
    return false;
  }
}
