import { setTimeout as sleep } from 'node:timers/promises';
import { rootOfStage, uploadFolder } from '#shared/stage/stage-folders.ts';
import type { CatalogContext } from '../context.ts';
import { isPlain } from '../purge/own-files.ts';
import { deleteForgottenLoads } from '../store/postgres/loaded-file-store.ts';
import { forgetStage, listDroppedStages } from '../store/postgres/stage-store.ts';
import { forgetUpload, listExpiredUploads } from '../store/postgres/upload-store.ts';

const INTERVAL_MIN_MS = 50;
/** Uploads, or stages, of one look. */
const AT_ONCE = 100;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

type Parts = Pick<CatalogContext, 'store' | 'storages' | 'clock' | 'config' | 'log'>;

/**
 * Deletes what uploads have left in their stages when their time is over, the files of dropped stages, and what is remembered of files that
 * were loaded long ago. Several catalog processes may do
 * so at once: deleting twice is the same.
 */
export class StageSweeper {
  readonly #parts: Parts;
  readonly #closed = new AbortController();
  #woken = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Says that a stage has been dropped. */
  wake(): void {
    this.#woken.abort();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.wake();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { config, log } = this.#parts;
    const { signal } = this.#closed;
    while (!signal.aborted) {
      this.#woken = new AbortController();
      try {
        await this.#sweepUploads();
        await this.#sweepStages();
        await deleteForgottenLoads(this.#parts.store.db, new Date(this.#parts.clock.nowMs()));
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, 'expired uploads and dropped stages could not be looked for');
      }
      const pauseMs = Math.max(INTERVAL_MIN_MS, config['catalog.background_interval']);
      await sleep(pauseMs, undefined, { signal: this.#woken.signal, ref: false }).catch(() => undefined);
    }
  }

  async #sweepUploads(): Promise<void> {
    const { store, clock } = this.#parts;
    for (;;) {
      const uploads = await listExpiredUploads(store.db, new Date(clock.nowMs()), AT_ONCE);
      let left = 0;
      for (const { id, location } of uploads) {
        if (await this.#remove(uploadFolder(location, id), location)) await forgetUpload(store.db, id);
        else left += 1;
      }
      if (uploads.length < AT_ONCE || left > 0 || this.#closed.signal.aborted) return;
    }
  }

  async #sweepStages(): Promise<void> {
    const { db } = this.#parts.store;
    let after = FIRST_ID;
    for (;;) {
      const stages = await listDroppedStages(db, after, AT_ONCE);
      for (const { id, location } of stages) {
        if (await this.#remove(location, location)) await forgetStage(db, id);
        after = id;
      }
      if (stages.length < AT_ONCE || this.#closed.signal.aborted) return;
    }
  }

  /** Deletes what lies below a folder of a stage, unless a symbolic link leads there. @returns whether nothing is left */
  async #remove(folder: string, stage: string): Promise<boolean> {
    const { log, storages } = this.#parts;
    try {
      if (!(await isPlain(storages, folder, [rootOfStage(stage)]))) return true;
      const storage = await storages.open(folder);
      for await (const files of storage.list(folder)) {
        if (this.#closed.signal.aborted) return false;
        await storage.remove(files);
      }
      await storage.removeEmptyFolders(folder);
      return true;
    } catch (error) {
      log.warn({ err: error, folder }, 'the files of a stage could not be deleted');
      return false;
    }
  }
}
