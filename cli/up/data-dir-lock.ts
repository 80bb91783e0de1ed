import { closeSync, ftruncateSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '#shared/error.ts';
import { fileLocker, isSameFile } from '#shared/storage/lock-file.ts';

/** Attempts to lock: the file that we locked may have been removed by the launcher that held it before. */
const ATTEMPTS_MAX = 100;

const lockPath = (dataDir: string): string => join(dataDir, 'lock');

export type DataDirLock = { release(): void };

/** Locks a data directory for the lifetime of this process. @throws DATA_DIR_IN_USE with the holder's pid */
export function lockDataDir(dataDir: string): DataDirLock {
  const lock = fileLocker();
  const path = lockPath(dataDir);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const fd = openSync(path, 'a+', 0o644);
    if (!lock(fd)) {
      closeSync(fd);
      throw new SkeinError('DATA_DIR_IN_USE', `${dataDir} is in use by another skein up${holder(path)}`);
    }
    if (isSameFile(fd, path)) {
      ftruncateSync(fd);
      writeSync(fd, `${process.pid}\n`);
      return {
        release: () => {
          // Removed while still locked: a process that opened it earlier then notices that the name refers to another file.
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
