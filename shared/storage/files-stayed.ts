import type { Logger } from '#shared/log/logger.ts';
import { SkeinError } from '#shared/error.ts';
import type { Storage } from './storage.ts';

/** A file that could not be deleted. */
export type StayedFile = { readonly location: string; readonly why: string };

/** Files that an error's message names; `stayed` has all. */
const NAMED_MAX = 20;
/** Files that one line of the log names. */
const LOGGED_AT_ONCE = 100;
/** Files of one call to a storage, as many as S3 deletes in one request. */
const REMOVED_AT_ONCE = 1_000;

/** Some files of a deletion stayed; all others are gone. */
export class FilesStayed extends SkeinError {
  readonly stayed: readonly StayedFile[];

  constructor(stayed: readonly StayedFile[], cause?: unknown) {
    const names = stayed.slice(0, NAMED_MAX).map(({ location }) => location);
    const more = stayed.length > NAMED_MAX ? ` and ${stayed.length - NAMED_MAX} more` : '';
    super('STORAGE_ERROR', `cannot delete ${names.join(', ')}${more}: ${stayed[0]?.why ?? ''}`, { cause });
    this.stayed = stayed;
  }
}

type Removal = {
  readonly log: Pick<Logger, 'warn'>;
  /** The table whose files they are, for the log. */
  readonly table: string;
  /** Called before each request. @throws to end it */
  readonly pause: () => void | Promise<void>;
};

/**
 * Deletes files by as many as a store deletes at once, and goes on behind those that stay: each of them is in the log.
 * @returns the number of those that stayed
 * @throws STORAGE_ERROR when nothing at all of a request could be deleted: the rest is not tried
 */
export async function removeFiles(
  storage: Pick<Storage, 'remove'>,
  files: readonly string[],
  { log, table, pause }: Removal,
): Promise<number> {
  let count = 0;
  for (let start = 0; start < files.length; start += REMOVED_AT_ONCE) {
    await pause();
    const batch = files.slice(start, start + REMOVED_AT_ONCE);
    try {
      await storage.remove(batch);
    } catch (error) {
      if (!(error instanceof FilesStayed)) throw error;
      const { stayed } = error;
      for (let at = 0; at < stayed.length; at += LOGGED_AT_ONCE) {
        log.warn({ table, files: stayed.slice(at, at + LOGGED_AT_ONCE) }, 'files could not be deleted');
      }
      if (stayed.length === batch.length) throw error;
      count += stayed.length;
    }
  }
  return count;
}
