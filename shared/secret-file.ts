import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFoldersSync } from '#shared/storage/make-folders.ts';

/** Files of secrets: one a line, the one in use first; for this account alone. */

/** Returns the secret in a file, and creates it on first use, with mode 600 in a folder of mode 700. */
export function ensureSecretFile(path: string): string {
  const found = readSecretFile(path);
  if (found !== undefined) return found;
  makeFoldersSync(dirname(path), { mode: 0o700 });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, `${newSecret()}\n`, { mode: 0o600, flush: true });
  try {
    // A link never replaces a file: two processes that start at once agree on one secret, and no reader sees a partial one.
    linkSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  return readSecretFile(path) ?? '';
}

export const newSecret = (): string => randomBytes(32).toString('base64url');

/** Writes a list of secrets, the one in use first; a reader sees the old list or the new one. */
export function writeSecrets(path: string, secrets: readonly string[]): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, `${secrets.join('\n')}\n`, { mode: 0o600, flush: true });
  renameSync(temporary, path);
}

/** Returns the secret in use; undefined when there is no file. */
export function readSecretFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').split('\n')[0]?.trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
