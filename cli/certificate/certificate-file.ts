import { renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { SkeinError } from '#shared/error.ts';
import { makeFoldersSync } from '#shared/storage/make-folders.ts';

/** Modes of files with a private key, and of those that others may read. */
export const PRIVATE = 0o600;
export const PUBLIC = 0o644;

/** Writes a file atomically, at no time with wider permissions than `mode`. */
export function writeCertificateFile(path: string, text: string, mode: number): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    makeFoldersSync(dirname(path), { mode: 0o700 });
    writeFileSync(temporary, text, { mode, flag: 'wx', flush: true });
    renameSync(temporary, path);
  } catch (cause) {
    throw new SkeinError('START_FAILED', `cannot write ${path}: ${(cause as NodeJS.ErrnoException).code}`, { cause });
  }
}
