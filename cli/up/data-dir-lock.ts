import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import koffi from 'koffi';
import { SkeinError } from '#shared/error.ts';

/** `flock(2)`: exclusive, not blocking. The kernel drops the lock with the process, however it ends: it cannot become stale. */
const LOCK_EXCLUSIVE_NONBLOCKING = 2 | 4;
/** Attempts when the file that we locked was removed meanwhile by the launcher that held it. */
const ATTEMPTS_MAX = 100;

const lockPath = (dataDir: string): string => join(dataDir, 'lock');

export type DataDirLock = { release(): void };

/** The lock of a data directory, for as long as this process lives. @throws DATA_DIR_IN_USE with the holder's pid */
export function lockDataDir(dataDir: string): DataDirLock {
  const flock = koffi.load(null).func('int flock(int, int)') as (fd: number, operation: number) => number;
  const path = lockPath(dataDir);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const fd = openSync(path, 'a+', 0o644);
    if (flock(fd, LOCK_EXCLUSIVE_NONBLOCKING) !== 0) {
      closeSync(fd);
      throw new SkeinError('DATA_DIR_IN_USE', `${dataDir} is in use by another skein up${holder(path)}`);
    }
    if (isSameFile(fd, path)) {
      ftruncateSync(fd);
      writeSync(fd, `${process.pid}\n`);
      return {
        release: () => {
          // Removed while it is locked: whoever opened it before sees that it is no longer the file of that name.
          unlinkSync(path);
          closeSync(fd);
        },
      };
    }
    closeSync(fd);
  }
  throw new SkeinError('DATA_DIR_IN_USE', `${dataDir}: the lock ${path} changes all the time`);
}

function holder(path: string): string {
  try {
    const pid = readFileSync(path, 'utf8').trim();
    return pid === '' ? '' : ` (pid ${pid})`;
  } catch {
    return '';
  }
}

function isSameFile(fd: number, path: string): boolean {
  try {
    const [open, named] = [fstatSync(fd), statSync(path)];
    return open.ino === named.ino && open.dev === named.dev;
  } catch {
    return false;
  }
}
