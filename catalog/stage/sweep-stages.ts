import { rootOfStage, uploadFolder } from '#shared/stage/stage-folders.ts';
import type { CatalogContext } from '../context.ts';
import { isPlain } from '#shared/iceberg/own-files.ts';
import type { Chore } from '../purge/sweeper.ts';
import { deleteForgottenLoads } from '../store/postgres/loaded-file-store.ts';
import { forgetStage, listDroppedStages } from '../store/postgres/stage-store.ts';
import { forgetUpload, listExpiredUploads, type ExpiredUpload } from '../store/postgres/upload-store.ts';
import { abortAtStore } from './store-uploads.ts';

/** Uploads, or stages, of one look. */
const AT_ONCE = 100;
/** Time that a client may take to send a file when the key has ended that it began with. */
const LATE_MS = 3_600_000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

type Parts = Pick<CatalogContext, 'store' | 'storages' | 'clock' | 'log'>;

/**
 * Deletes what uploads have left in their stages when their time is over, the files of dropped stages, and what is remembered of files that
 * were loaded long ago. Several catalog processes may do so at once: deleting twice is the same.
 */
export function sweepStages(parts: Parts): Chore {
  return {
    failure: 'expired uploads and dropped stages could not be looked for',
    step: async (signal) => {
      const { store, clock } = parts;
      await sweepUploads(parts, signal);
      await sweepDropped(parts, signal);
      await deleteForgottenLoads(store.db, new Date(clock.nowMs()));
      return false;
    },
  };
}

async function sweepUploads(parts: Parts, signal: AbortSignal): Promise<void> {
  const { store, clock } = parts;
  for (;;) {
    const uploads = await listExpiredUploads(store.db, new Date(clock.nowMs()), AT_ONCE);
    let left = 0;
    for (const upload of uploads) {
      const { id, location } = upload;
      const isGone = await removeBelow(uploadFolder(location, id), location, { ...parts, signal });
      if (isGone && (await endAtStore(parts, upload))) await forgetUpload(store.db, id);
      else left += 1;
    }
    if (uploads.length < AT_ONCE || left > 0 || signal.aborted) return;
  }
}

/** @returns whether nothing is left */
async function endAtStore(parts: Parts, upload: ExpiredUpload): Promise<boolean> {
  try {
    if (await parts.storages.reaches(upload.location)) await abortAtStore(parts, upload);
    return true;
  } catch (error) {
    parts.log.warn({ err: error, upload: upload.id }, 'an upload could not be ended at the store');
    return false;
  }
}

async function sweepDropped(parts: Parts, signal: AbortSignal): Promise<void> {
  const { db } = parts.store;
  let after = FIRST_ID;
  for (;;) {
    const stages = await listDroppedStages(db, after, AT_ONCE);
    for (const { id, location, keysUntil } of stages) {
      // Until the last key has ended, files may come, which go with the next look.
      const isOpen = keysUntil !== null && keysUntil.getTime() + LATE_MS >= parts.clock.nowMs();
      const isClosed = !isOpen || !(await parts.storages.reaches(location));
      if ((await removeBelow(location, location, { ...parts, signal })) && isClosed) await forgetStage(db, id);
      after = id;
    }
    if (stages.length < AT_ONCE || signal.aborted) return;
  }
}

/** Deletes what lies below a folder of a stage, unless a symbolic link leads there. @returns whether nothing is left */
async function removeBelow(
  folder: string,
  stage: string,
  { log, storages, signal }: Pick<Parts, 'log' | 'storages'> & { readonly signal: AbortSignal },
): Promise<boolean> {
  try {
    if (!(await storages.reaches(folder))) {
      log.info({ folder }, 'the files of a stage stay: the catalog of their bucket was dropped');
      return true;
    }
    if (!(await isPlain(storages, folder, [rootOfStage(stage)]))) return true;
    const storage = await storages.open(folder, [rootOfStage(stage)]);
    for await (const files of storage.list(folder)) {
      if (signal.aborted) return false;
      await storage.remove(files);
    }
    await storage.removeEmptyFolders(folder);
    return true;
  } catch (error) {
    log.warn({ err: error, folder }, 'the files of a stage could not be deleted');
    return false;
  }
}
