import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import { fileLocker } from '#shared/storage/lock-file.ts';
import { makeFoldersSync } from '#shared/storage/make-folders.ts';

const POLL_MS = 50;
const WAIT_MS_MAX = 60_000;

/**
 * Works while no other process changes the file of sign-ins: two that renew one at once would show a refresh token twice, which ends it. The
 * kernel drops the lock of a process that dies. @throws UNAUTHENTICATED when another one holds it too long
 */
export async function whileLocked<T>(path: string, work: () => Promise<T>): Promise<T> {
  makeFoldersSync(dirname(path), { mode: 0o700 });
  const lock = fileLocker();
  const fd = openSync(`${path}.lock`, 'a+', 0o600);
  try {
    const endMs = performance.now() + WAIT_MS_MAX;
    while (!lock(fd)) {
      if (performance.now() > endMs) throw new SkeinError('UNAUTHENTICATED', `another process holds ${path}.lock`);
      await sleep(POLL_MS);
    }
    return await work();
  } finally {
    closeSync(fd);
  }
}
