import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import type { CommitOutcome } from '#shared/iceberg/write/commit-writes.ts';
import type { Logger } from '#shared/log/logger.ts';
import { uploadFolder } from '#shared/stage/stage-folders.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import { statementUse } from '../catalog-client/fresh-key.ts';
import type { Stage, StageCatalog } from '../catalog-client/stage-catalog.ts';
import { placeUploadFile, removeUpload, requireFreePaths, uploadFiles } from '../stage/stage-files.ts';
import { failureOf, LOST_BEFORE_COMMIT } from '../write/write-journal.ts';
import type { UnloadIntent, UnloadIntents, UnloadName } from './unload-intents.ts';
import { BackgroundWork } from '../write/background-work.ts';

/** Time after which the folder of an unload is looked at once more. */
const SWEEP_AGAIN_MS = 30_000;

/** An unload of this coordinator, from before its first file until nothing of it is left open. */
export interface OpenUnload {
  /** Location below which its files lie until they get their names. */
  readonly folder: string;
  /**
   * Gives the files their names, all of them: from the moment at which it is decided nothing stops that, not even the end of this
   * coordinator. @param begin called before it is decided
   * @throws ALREADY_EXISTS, INVALID_REQUEST for a name that is not free, UPLOAD_NOT_FOUND when the time of the upload is over: nothing has
   * a name; COMMIT_STATE_UNKNOWN when `settle` has to end it
   */
  place(
    names: readonly UnloadName[],
    options: { readonly overwrite: boolean; readonly begin: () => void },
  ): Promise<void>;
  /** Nothing gets a name: deletes the files. */
  discard(): Promise<void>;
  /** Ends an unload that nobody knows whether it was decided: tries until it is done. */
  settle(): Promise<CommitOutcome>;
}

type Options = {
  readonly intents: UnloadIntents;
  readonly catalog: Pick<StageCatalog, 'beginUpload' | 'findUpload' | 'endUpload'>;
  readonly keys: Pick<CatalogClient, 'storageKey' | 'renewKey' | 'abortUploads'>;
  readonly log: Logger;
};

/**
 * The unloads that have begun and not ended, durable before their first file. Until names are decided the catalog knows of each as an
 * upload into its stage, and deletes what is left of it when the stage's `upload_ttl` is over.
 * ```
 * begin ─▶ files ─▶ names are decided, in one row ─▶ each file gets its name ─▶ the intent goes
 *            └─ failed ─▶ the files are deleted ─▶ the intent goes
 * ```
 * A coordinator that begins ends what earlier ones left: it gives the files of a decided unload their names, and deletes all others.
 */
export class UnloadJournal {
  readonly #options: Options;
  readonly #behind: BackgroundWork;
  /** The last of the unloads into a stage that give names, by the stage's id: two of them do not find the same name free. */
  readonly #placing = new Map<string, Promise<unknown>>();

  constructor(options: Options) {
    this.#options = options;
    this.#behind = new BackgroundWork(options.log, 'an unload is left to the next coordinator');
  }

  /** @throws STAGE_NOT_FOUND, QUEUE_FULL, CATALOG_UNAVAILABLE: then no file may be written */
  async begin(
    principal: Principal,
    { stage, path, recordId }: { readonly stage: Stage; readonly path: string; readonly recordId: string },
  ): Promise<OpenUnload> {
    const { catalog, intents } = this.#options;
    const uploadId = randomUUID();
    await catalog.beginUpload(principal, { id: uploadId, stageId: stage.id, path, partBytes: 0, sizeBytes: null });
    const intent = { uploadId, recordId, stage: stage.location, names: null };
    try {
      await intents.add(intent);
    } catch (error) {
      // It may be there: then Postgres went away before it could say so.
      this.#behind.add(this.#settle(intent));
      throw error;
    }
    return {
      folder: uploadFolder(stage.location, uploadId),
      place: (names, { overwrite, begin }) =>
        this.#inTurn(stage.id, async () => {
          await requireFreePaths(
            stage,
            names.map(({ path: wanted }) => wanted),
            overwrite,
          );
          begin();
          await this.#keepFiles(principal, intent, names);
          await intents.decide(uploadId, names);
          await this.#place(intent, names).catch((cause: unknown) => {
            throw new SkeinError(
              'COMMIT_STATE_UNKNOWN',
              'the files are written, and get their names as soon as the storage takes them',
              { cause },
            );
          });
          this.#behind.add(this.#forget(intent));
        }),
      discard: () => this.#discard(intent),
      settle: () => this.#settle(intent),
    };
  }

  /** Ends the unloads of coordinators before this one, in the background; their history records end with it. */
  async resume(ending: readonly number[] = []): Promise<void> {
    const { intents, log } = this.#options;
    const left = await intents.takeOver(ending);
    if (left.length > 0) log.warn({ unloads: left.length }, 'unloads of an earlier coordinator are ended');
    for (const intent of left) {
      const ended = (outcome: CommitOutcome): Promise<void> =>
        intents.record(intent.recordId, failureOf(outcome, LOST_BEFORE_COMMIT));
      this.#behind.add(this.#settle(intent, ended));
    }
  }

  /** Stops; what is still open is ended by the next coordinator. */
  close(): Promise<void> {
    return this.#behind.close();
  }

  /** From now on the catalog does not delete the files, although the time of the upload ends. @throws UPLOAD_NOT_FOUND */
  async #keepFiles(
    principal: Principal,
    { uploadId: id, stage: location }: UnloadIntent,
    names: readonly UnloadName[],
  ): Promise<void> {
    const { catalog } = this.#options;
    try {
      await catalog.findUpload(principal, id);
      await catalog.endUpload(id, false);
    } catch (thrown) {
      if (SkeinError.of(thrown).code !== 'UPLOAD_NOT_FOUND') throw thrown;
      throw tooLong(thrown);
    }
    const files = await uploadFiles({ id, stage: await this.#stageAt(location) });
    if (!names.every(({ file }) => files.has(file))) throw tooLong(undefined);
  }

  async #inTurn(stageId: string, work: () => Promise<void>): Promise<void> {
    const before = this.#placing.get(stageId) ?? Promise.resolve();
    const turn = before.then(work, work);
    this.#placing.set(stageId, turn);
    try {
      await turn;
    } finally {
      if (this.#placing.get(stageId) === turn) this.#placing.delete(stageId);
    }
  }

  /** May be done again: a file that has its name is no longer in the upload's folder. */
  async #place({ uploadId: id, stage: location }: UnloadIntent, names: readonly UnloadName[]): Promise<void> {
    const upload = { id, stage: await this.#stageAt(location) };
    const left = await uploadFiles(upload);
    for (const { file, path } of names) if (left.has(file)) await placeUploadFile({ ...upload, path }, file);
  }

  async #stageAt(location: string): Promise<Pick<Stage, 'location' | 'credential' | 'use'>> {
    const { keys } = this.#options;
    // The journal's own work: it knows no tenant.
    return { location, credential: await keys.storageKey('', [location], 'write'), use: statementUse(keys, '') };
  }

  /** @param ended called with the outcome before the intent may go, and again when that fails */
  async #settle(
    intent: UnloadIntent,
    ended: (outcome: CommitOutcome) => Promise<void> = () => Promise.resolve(),
  ): Promise<CommitOutcome> {
    return this.#behind.untilDone(async () => {
      const names = await this.#options.intents.end(intent.uploadId);
      if (names !== null) await this.#place(intent, names);
      const outcome = names === null ? 'NOT_COMMITTED' : 'COMMITTED';
      await ended(outcome);
      await this.#forget(intent);
      return outcome;
    });
  }

  async #discard(intent: UnloadIntent): Promise<void> {
    try {
      await this.#forget(intent);
    } catch (error) {
      this.#options.log.warn({ err: error, upload: intent.uploadId }, 'an unload could not be tidied up');
      this.#behind.add(this.#settle(intent));
    }
  }

  /** Deletes what is left of an unload; and once more, because an attempt to run a task that was given up may go on for a while. */
  async #forget(intent: UnloadIntent): Promise<void> {
    const { catalog, intents } = this.#options;
    const { uploadId: id, stage: location } = intent;
    const upload = { id, stage: await this.#stageAt(location) };
    await this.#options.keys.abortUploads([location], id);
    await removeUpload(upload);
    await catalog.endUpload(id, true);
    const again = async (): Promise<void> => {
      await sleep(SWEEP_AGAIN_MS, undefined, { signal: this.#behind.signal, ref: false });
      // A key may have ended meanwhile.
      await removeUpload({ id, stage: await this.#stageAt(location) });
      await this.#behind.untilDone(() => intents.remove(id));
    };
    this.#behind.add(again());
  }
}

const tooLong = (cause: unknown): SkeinError =>
  new SkeinError('UPLOAD_NOT_FOUND', 'the unload took longer than the upload_ttl of its stage', { cause });
