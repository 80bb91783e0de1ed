import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '#shared/error.ts';
import type { JsonObject } from '#shared/json.ts';
import { SKEIN_RELEASE } from '#shared/release.ts';
import { writeWhole } from '../cluster-file.ts';

/**
 * Version of the layout and file formats of a data directory, except for the database, which tracks its own migrations. It is incremented
 * by a change that an older release would misread. Directories from before `format.json` existed have 0.
 */
const FORMAT = 1;

const formatPath = (dataDir: string): string => join(dataDir, 'format.json');

/** Only reads. @throws NEWER_DATA naming both formats and releases; START_FAILED when the file says no format */
export function refuseNewerDataDir(dataDir: string): void {
  const found = readFormat(dataDir);
  if (found === undefined || found.format <= FORMAT) return;
  throw new SkeinError(
    'NEWER_DATA',
    `${dataDir} has format ${found.format}, of Skein ${found.release}; this is Skein ${SKEIN_RELEASE}, which knows formats up to ${FORMAT}`,
  );
}

/** Records that this release has used the directory. The caller holds its lock, and has checked its format. */
export function writeDataDirFormat(dataDir: string): void {
  writeWhole(formatPath(dataDir), { format: FORMAT, release: SKEIN_RELEASE });
}

function readFormat(dataDir: string): { readonly format: number; readonly release: string } | undefined {
  const path = formatPath(dataDir);
  try {
    const { format, release } = JSON.parse(readFileSync(path, 'utf8')) as JsonObject;
    if (typeof format === 'number') return { format, release: typeof release === 'string' ? release : 'unknown' };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new SkeinError('START_FAILED', `${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
  throw new SkeinError('START_FAILED', `${path} says no format`);
}
