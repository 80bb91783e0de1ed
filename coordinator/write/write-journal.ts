import { unreachable } from '#shared/must.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import { STAGED_PREFIX } from '#shared/iceberg/table-folders.ts';
import type { CommitOutcome } from '#shared/iceberg/write/commit-writes.ts';
import type { Logger } from '#shared/log/logger.ts';
import { fileName } from '#shared/storage/location.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { newUuidV7, timeOfUuidV7 } from '#shared/uuid-v7.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import { statementUse } from '../catalog-client/fresh-key.ts';
import type { WriteIntent, WriteIntents } from './write-intents.ts';
import { BackgroundWork } from './background-work.ts';

/** Age up to which the key of the intent is that of the first attempt to commit; the catalog takes no old keys. */
const KEY_AGE_MAX_MS = 60_000;
/** Time after which files that no commit names are looked for once more: an attempt to run a task that was given up may have gone on. */
const SWEEP_AGAIN_MS = 30_000;

/** A write of this coordinator, from before its first file until nothing of it is left open. */
export interface OpenWrite {
  /** Its durable part. */
  readonly intent: WriteIntent;
  /** Whether no attempt to commit has used the intent's key. */
  readonly isNew: boolean;
  /** The next attempt to commit has this key, which is in the intent. */
  usesKey(key: string): void;
  /**
   * Called before the commit, with all the data files that it names. When a task may have been tried twice, the intent has them, so that
   * whoever ends the write knows what lost attempts have left. @throws NOT_ACTIVE, CATALOG_UNAVAILABLE
   */
  names(files: readonly string[], mayHaveRetried: boolean): Promise<void>;
  /** The catalog has taken the commit: the files that it names stay, and all others go. */
  committed(): void;
  /** The commit was not sent, or was refused: deletes the write's files. */
  discard(): Promise<void>;
  /** Asks the catalog how the commit ended until it answers, and deletes the files of a commit that did not happen. */
  settle(): Promise<CommitOutcome>;
}

type Options = {
  readonly intents: WriteIntents;
  readonly catalog: Pick<CatalogClient, 'abandonCommit' | 'storageKey' | 'renewKey' | 'abortUploads'>;
  readonly log: Logger;
};

/**
 * The writes that have begun and not ended, durable before their first file:
 * ```
 * begin ─▶ files ─▶ commit(key) ─▶ committed: files of lost attempts are deleted, and a while later ─▶ the intent goes
 *            │          └─ no answer ─▶ settle: abandonCommit(key) ─▶ COMMITTED, or as below
 *            └─ failed ─▶ files are deleted, now and a while later ─▶ the intent goes
 * ```
 * A coordinator that begins settles what earlier ones left.
 */
export class WriteJournal {
  readonly #options: Options;
  readonly #behind: BackgroundWork;

  constructor(options: Options) {
    this.#options = options;
    this.#behind = new BackgroundWork(options.log, 'a write is left to the next coordinator');
  }

  /** @throws CATALOG_UNAVAILABLE when the intent cannot be written: then no file may be */
  async begin(begun: Omit<WriteIntent, 'key' | 'files'>): Promise<OpenWrite> {
    let intent: WriteIntent = { ...begun, key: newUuidV7(Date.now()), files: null };
    let isNew = true;
    let named: readonly string[] = [];
    try {
      await this.#options.intents.add(intent);
    } catch (error) {
      // It may be there: then Postgres went away before it could say so.
      this.#behind.add(this.#discardAgain(intent));
      throw error;
    }
    return {
      get intent() {
        return intent;
      },
      get isNew() {
        return isNew;
      },
      usesKey: (key) => {
        intent = { ...intent, key };
        isNew = false;
      },
      names: async (files, mayHaveRetried) => {
        named = files.map(fileName);
        if (!mayHaveRetried) return;
        await this.#options.intents.setFiles(intent.writeId, named);
        intent = { ...intent, files: named };
      },
      committed: () => this.#behind.add(this.#keepOnly(intent, named)),
      discard: () => this.#discard(intent),
      settle: () => this.#settle(intent),
    };
  }

  /**
   * Returns the key of the next attempt to commit these writes as one, which is in the intent of each when this resolves: so each of them
   * learns by itself how the commit ended. @throws NOT_ACTIVE, CATALOG_UNAVAILABLE
   */
  async newKey(writes: readonly OpenWrite[]): Promise<string> {
    const key = unusedKey(writes) ?? newUuidV7(Date.now());
    const others = writes.filter(({ intent }) => intent.key !== key);
    if (others.length > 0) {
      const ids = others.map(({ intent }) => intent.writeId);
      await this.#options.intents.setKey(ids, key);
    }
    for (const write of writes) write.usesKey(key);
    return key;
  }

  /** Settles the writes of coordinators before this one, in the background; their history records end with it. */
  async resume(ending: readonly number[] = []): Promise<void> {
    const { intents, log } = this.#options;
    const left = await intents.takeOver(ending);
    if (left.length > 0) log.warn({ writes: left.length }, 'writes of an earlier coordinator are settled');
    for (const intent of left) {
      const ended = (outcome: CommitOutcome): Promise<void> =>
        intents.record(intent.recordId, failureOf(outcome, LOST_BEFORE_COMMIT));
      this.#behind.add(this.#settle(intent, ended));
    }
  }

  /** Ids of all writes that have begun and not ended. @throws CATALOG_UNAVAILABLE */
  open(): Promise<ReadonlySet<string>> {
    return this.#options.intents.ids();
  }

  /** Stops; what is still open is settled by the next coordinator. */
  close(): Promise<void> {
    return this.#behind.close();
  }

  /** @param ended called with the outcome before the intent may go, and again when that fails */
  async #settle(
    intent: WriteIntent,
    ended: (outcome: CommitOutcome) => Promise<void> = () => Promise.resolve(),
  ): Promise<CommitOutcome> {
    const { catalog, intents, log } = this.#options;
    return this.#behind.untilDone(async () => {
      const outcome = await catalog.abandonCommit(intent.principal, intent.key);
      log.info({ writeId: intent.writeId, outcome }, 'the catalog has said how a commit ended');
      await ended(outcome);
      if (outcome === 'NOT_COMMITTED') await this.#discard(intent);
      else if (intent.files !== null) this.#behind.add(this.#keepOnly(intent, intent.files));
      else {
        // A coordinator that died may have left them.
        await this.#removeData(intent, (name) => name.startsWith(STAGED_PREFIX));
        await intents.remove(intent.writeId);
      }
      return outcome;
    });
  }

  async #discard(intent: WriteIntent): Promise<void> {
    await this.#removeFiles(intent);
    this.#behind.add(this.#discardAgain(intent));
  }

  async #discardAgain(intent: WriteIntent): Promise<void> {
    await sleep(SWEEP_AGAIN_MS, undefined, { signal: this.#behind.signal, ref: false });
    await this.#removeFiles(intent);
    await this.#removeIntent(intent);
  }

  #removeIntent({ writeId }: WriteIntent): Promise<void> {
    return this.#behind.untilDone(() => this.#options.intents.remove(writeId));
  }

  async #keepOnly(intent: WriteIntent, named: readonly string[]): Promise<void> {
    const kept = new Set(named);
    const isOther = (name: string): boolean => !kept.has(name);
    const mayHaveRetried = intent.files !== null;
    if (mayHaveRetried) await this.#abortUploads(intent);
    await this.#removeData(intent, isOther);
    if (mayHaveRetried) {
      await sleep(SWEEP_AGAIN_MS, undefined, { signal: this.#behind.signal, ref: false });
      await this.#removeData(intent, isOther);
    }
    await this.#removeIntent(intent);
  }

  /** Deletes those of a write's data files whose names `isLeft` picks, and the folders that are empty then. */
  async #removeData(intent: WriteIntent, isLeft: (name: string) => boolean): Promise<void> {
    const { data } = intent.places;
    const storage = await this.#storage(intent);
    for await (const found of storage.list(data)) {
      await storage.remove(found.filter((file) => isLeft(fileName(file))));
    }
    await storage.removeEmptyFolders(data);
  }

  /** Ends the uploads that a worker or a coordinator of the write has left when it was killed. */
  #abortUploads({ writeId, places: { data, metadata } }: WriteIntent): Promise<void> {
    return this.#options.catalog.abortUploads([data, metadata], writeId);
  }

  /** The storage of a write's files. Keys of buckets end: whoever ends a write asks for another. */
  async #storage({ principal, places: { data, metadata } }: WriteIntent): Promise<Storage> {
    const { catalog } = this.#options;
    const key = await catalog.storageKey(principal.tenant, [data, metadata], 'write');
    return openStorage(data, key, statementUse(catalog, principal.tenant, { signal: this.#behind.signal }));
  }

  /** Deletes every file of a write. A storage that fails now is asked again with the next look. */
  async #removeFiles(intent: WriteIntent): Promise<void> {
    const { writeId, places } = intent;
    const { metadata } = places;
    try {
      await this.#abortUploads(intent);
      await this.#removeData(intent, () => true);
      const storage = await this.#storage(intent);
      for await (const files of storage.list(metadata)) {
        await storage.remove(files.filter((file) => file.includes(writeId)));
      }
    } catch (error) {
      this.#options.log.warn({ err: error, writeId }, 'files of a write that did not happen cannot be deleted');
    }
  }
}

/** The key of a write that has not been tried yet, which its intent has already. */
function unusedKey(writes: readonly OpenWrite[]): string | undefined {
  const youngMs = Date.now() - KEY_AGE_MAX_MS;
  return writes.find(({ intent, isNew }) => isNew && (timeOfUuidV7(intent.key) ?? 0) > youngMs)?.intent.key;
}

/** A statement that answers before the catalog has said how its commit ended; its record ends when it has. */
export interface EndingStatement {
  endLater(): void;
  settled(error: SkeinError | null): void;
}

/** Ends the history record of a statement when the catalog has said how its commit ended. */
export function endLater(statement: EndingStatement, open: Pick<OpenWrite, 'settle'>): void {
  statement.endLater();
  open.settle().then(
    (outcome) => statement.settled(failureOf(outcome, NOT_TAKEN)),
    // This coordinator ends; the next one settles the write and its record.
    () => undefined,
  );
}

/** Why a write of an earlier term did not happen. */
export const LOST_BEFORE_COMMIT = new SkeinError(
  'NOT_ACTIVE',
  'the coordinator died or lost the lead before the statement committed: nothing was written',
);

const NOT_TAKEN = new SkeinError('CATALOG_UNAVAILABLE', 'the catalog did not take the commit: nothing was written');

/** The error of a statement that could not be told how its commit ended, `why` when nothing was written; null when the commit happened. */
export function failureOf(outcome: CommitOutcome, why: SkeinError): SkeinError | null {
  switch (outcome) {
    case 'COMMITTED':
      return null;
    case 'NOT_COMMITTED':
      return why;
    case 'FORGOTTEN':
      return new SkeinError('COMMIT_STATE_UNKNOWN', 'the catalog no longer knows whether it took the commit');
    default:
      return unreachable(outcome);
  }
}
