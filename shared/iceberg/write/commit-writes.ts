import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { printJson, type JsonObject } from '#shared/json.ts';
import { printLoads } from '#shared/iceberg/stage-loads.ts';
import type { Storage } from '#shared/storage/storage.ts';
import type { ManifestFile } from '../manifest.ts';
import type { ManifestReader } from './rewrite-manifests.ts';
import { metadataFolder } from '../table-folders.ts';
import type { TableMetadata } from '../table-metadata.ts';
import type { WrittenVersion } from '../manifest-schema.ts';
import { ManifestWriter } from './manifest-writer.ts';
import { conflict } from './replace-files.ts';
import { ManifestMerging } from './merge-manifests.ts';
import { summarize } from './snapshot-summary.ts';
import { requirementsOf, shapeUpdates } from './table-updates.ts';
import { retried, spreadPause } from '#shared/retry.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import { MAIN_BRANCH, type TableName, type TableWrite } from './table-write.ts';

/** Outcome of a commit, by its key; `FORGOTTEN`: it cannot happen any more, and whether it did is no longer known. */
export type CommitOutcome = (typeof COMMIT_OUTCOMES)[number];
export const COMMIT_OUTCOMES = ['COMMITTED', 'NOT_COMMITTED', 'FORGOTTEN'] as const;

/** The part of the catalog that a writer needs. */
export interface WriteCatalog {
  loadTable(name: TableName): Promise<TableMetadata>;
  /** Commits once per key. @param transaction JSON of `CommitTransactionRequest` */
  commitTables(key: string, transaction: Uint8Array): Promise<void>;
  /** Says whether the commit of a key happened; from then on it cannot happen. */
  abandonCommit(key: string): Promise<CommitOutcome>;
}

export type CommitOptions = {
  /**
   * Makes the key of an attempt, a UUID of version 7. Whoever must know after a crash how the commit ended keeps the last one before this
   * resolves: all earlier ones have been refused. Absent = nobody keeps it.
   */
  readonly newKey?: () => Promise<string>;
  /** The change of the view whose rows the table has (`catalog/commit/view/view-change.ts`). */
  readonly viewChange?: JsonObject | undefined;
  /** The tables have changed since they were loaded: the first attempt loads them again. */
  readonly isStale?: boolean;
  /** How often a commit is tried again when another one came first. */
  readonly retriesMax: number;
  /** Time for which the catalog is asked how a commit ended. */
  readonly settleMs: number;
  readonly signal: AbortSignal;
  /** Reads the manifests that the tables have. */
  readonly manifests: ManifestReader;
};

/** Size of a manifest when the table has no `commit.manifest.target-size-bytes`. */
const MANIFEST_BYTES = 8 * 2 ** 20;

/** Size at which a manifest of the table ends and the next one begins. */
export const manifestBytes = ({ properties }: Pick<TableMetadata, 'properties'>): number =>
  Number(properties['commit.manifest.target-size-bytes']) || MANIFEST_BYTES;

/** Pause before another attempt; a random part of up to 20 times of it is added. */
const RETRY_PAUSE_MS = 50;

/**
 * Commits the writes of one statement: all of them or none, one snapshot per table. When another commit came first, it is tried again on
 * top of that one, as long as schema and partition spec are unchanged. A commit whose answer was lost is sent again under its key, which
 * makes it the same commit.
 *
 *   manifests ─▶ manifest lists ─▶ commitTables(key) ─▶ committed
 *                    ▲                   │  │
 *                    └── conflict: new key  └─ no answer: same key, until it answers or `settleMs` are over
 *
 * Metadata files of a commit that did not happen are deleted once the catalog has said that it cannot happen any more.
 * @returns the new snapshots, in the order of the writes
 * @throws COMMIT_CONFLICT, TABLE_EXISTS, COMMIT_STATE_UNKNOWN: then all files must stay, also the data files
 */
export async function commitWrites(
  catalog: WriteCatalog,
  storage: Storage,
  writes: readonly TableWrite[],
  options: CommitOptions,
): Promise<readonly NewSnapshot[]> {
  const snapshots = writes.map((write) => new SnapshotAttempts(storage, write, options.manifests));
  const attempts = await commitChanges(catalog, snapshots, options);
  return snapshots.map((one) => ({
    snapshotId: one.snapshotId,
    sequenceNumber: one.sequenceNumber,
    attempts,
    metadataFiles: one.used,
  }));
}

/** The change of one table in a commit, through all attempts. */
export interface TableAttempts {
  /** Returns the table's change in a transaction, on top of the table as last loaded. @throws COMMIT_CONFLICT */
  nextChange(): Promise<JsonObject>;
  /** Loads the table again and continues from its current state. @throws COMMIT_CONFLICT, TABLE_EXISTS */
  rebase(catalog: WriteCatalog): Promise<void>;
  /** Deletes the metadata files that it wrote: all, or those that only attempts before the last one refer to. Never throws. */
  removeFiles(which: 'all' | 'superseded'): Promise<void>;
}

/** `commitWrites` for changes of any kind. @returns the number of commits that were sent until one was taken */
export async function commitChanges(
  catalog: WriteCatalog,
  tables: readonly TableAttempts[],
  options: Omit<CommitOptions, 'manifests'>,
): Promise<number> {
  let attempts: number;
  try {
    attempts = await commitAttempts(catalog, tables, options);
  } catch (error) {
    if (!isUnknown(error)) for (const table of tables) await table.removeFiles('all');
    throw error;
  }
  for (const table of tables) await table.removeFiles('superseded');
  return attempts;
}

export type NewSnapshot = {
  readonly snapshotId: bigint;
  readonly sequenceNumber: bigint;
  /** Commits that were sent until one was taken. */
  readonly attempts: number;
  /** Paths of the files that were written for it: its manifests, and the list of them. */
  readonly metadataFiles: readonly string[];
};

/** Whether the outcome of the commit is unknown. */
export const isUnknown = (error: unknown): boolean =>
  error instanceof SkeinError && error.code === 'COMMIT_STATE_UNKNOWN';

/** @returns how many there were */
async function commitAttempts(
  catalog: WriteCatalog,
  snapshots: readonly TableAttempts[],
  options: Omit<CommitOptions, 'manifests'>,
): Promise<number> {
  if (options.isStale === true) for (const snapshot of snapshots) await snapshot.rebase(catalog);
  for (let attempt = 0; ; attempt++) {
    const changes: JsonObject[] = [];
    for (const snapshot of snapshots) changes.push(await snapshot.nextChange());
    options.signal.throwIfAborted();
    const { viewChange } = options;
    const transaction = {
      'table-changes': changes,
      ...(viewChange === undefined ? {} : { 'view-change': viewChange }),
    };
    const refusal = await sendCommit(catalog, Buffer.from(printJson(transaction)), options);
    if (refusal === undefined) return attempt + 1;
    if (refusal.code !== 'COMMIT_CONFLICT' || attempt >= options.retriesMax) throw refusal;
    await sleep(RETRY_PAUSE_MS * (1 + Math.random() * Math.min(attempt, 20)));
    for (const snapshot of snapshots) await snapshot.rebase(catalog);
  }
}

/** Errors after which the commit may have happened, or may still happen. */
export const WITHOUT_ANSWER: ReadonlySet<ErrorCode> = new Set([
  'CATALOG_UNAVAILABLE',
  'COMMIT_STATE_UNKNOWN',
  'INTERNAL_ERROR',
]);

/**
 * Sends one commit under a key of its own, until its outcome is known.
 * @returns undefined when it happened; otherwise the reason, and then it cannot happen any more
 * @throws COMMIT_STATE_UNKNOWN
 */
export async function sendCommit(
  catalog: WriteCatalog,
  transaction: Uint8Array,
  { newKey = randomKey, settleMs, signal }: Pick<CommitOptions, 'newKey' | 'settleMs' | 'signal'>,
): Promise<SkeinError | undefined> {
  const key = await newKey();
  const endMs = performance.now() + settleMs;
  const again = (error: unknown): boolean =>
    WITHOUT_ANSWER.has(SkeinError.of(error).code) && !signal.aborted && performance.now() < endMs;
  try {
    await retried(() => catalog.commitTables(key, transaction), { again, pauseMs: () => spreadPause(RETRY_PAUSE_MS) });
    return undefined;
  } catch (error) {
    const refusal = SkeinError.of(error);
    // The catalog keeps a conflict as the answer of the key.
    return refusal.code === 'COMMIT_CONFLICT' ? refusal : abandon(catalog, key, refusal);
  }
}

const randomKey = (): Promise<string> => Promise.resolve(newUuidV7(Date.now()));

/** Ends a commit that was only answered with errors. */
async function abandon(catalog: WriteCatalog, key: string, refusal: SkeinError): Promise<SkeinError | undefined> {
  let cause: unknown = refusal;
  const outcome = await catalog.abandonCommit(key).catch((error: unknown) => {
    cause = error;
    return 'FORGOTTEN' as const;
  });
  if (outcome === 'COMMITTED') return undefined;
  if (outcome === 'NOT_COMMITTED') return refusal;
  throw new SkeinError('COMMIT_STATE_UNKNOWN', `the catalog did not say whether it took the commit ${key}`, { cause });
}

/** The snapshot of one table, through all attempts to commit it. */
export class SnapshotAttempts implements TableAttempts {
  readonly snapshotId = newSnapshotId();
  readonly #storage: Storage;
  readonly #reader: ManifestReader;
  readonly #write: TableWrite;
  readonly #writer: ManifestWriter;
  readonly #merging: ManifestMerging;
  /** Paths of the metadata files that the last attempt refers to. */
  #used: ReadonlySet<string> = new Set();
  #base: TableMetadata;

  constructor(storage: Storage, write: TableWrite, reader: ManifestReader) {
    const { base, schema, spec } = write;
    this.#storage = storage;
    this.#reader = reader;
    this.#write = write;
    this.#base = base;
    const targetBytes = manifestBytes(base);
    this.#merging = new ManifestMerging(base.properties, rootsOf(base), targetBytes);
    this.#writer = new ManifestWriter(storage, {
      formatVersion: writtenVersion(base),
      schema,
      spec,
      snapshotId: this.snapshotId,
      folder: metadataFolder(base),
      writeId: write.writeId,
      targetBytes,
      parents: {
        table: { location: base.location, fields: base.fields, specs: base.specs },
        allowedRoots: rootsOf(base),
        reader,
      },
    });
  }

  /** Sequence number of the snapshot, on top of the table as last loaded. */
  get sequenceNumber(): bigint {
    return this.#base.lastSequenceNumber + 1n;
  }

  /** Paths of the files that it wrote and that its last attempt refers to. */
  get used(): readonly string[] {
    return this.#writer.made.filter((path) => this.#used.has(path));
  }

  async removeFiles(which: 'all' | 'superseded'): Promise<void> {
    const { made } = this.#writer;
    const files = which === 'all' ? made : made.filter((path) => !this.#used.has(path));
    // Best effort: nothing refers to these files.
    await this.#storage.remove(files).catch(() => undefined);
  }

  async nextChange(): Promise<JsonObject> {
    const { name, shape, schema, change, branch = MAIN_BRANCH, loads } = this.#write;
    const base = this.#base;
    const ref = base.refs.get(branch);
    if (branch !== MAIN_BRANCH && ref?.type !== 'branch') throw conflict(`the branch ${branch} was dropped meanwhile`);
    const parentId = shape === 'keep' ? (ref?.snapshotId ?? base.currentSnapshotId) : null;
    if (change.parent !== undefined && change.parent !== parentId)
      throw conflict('the table has another snapshot by now');
    const parent = parentId === null ? [] : await this.#manifestsOf(base, parentId);
    const ids = {
      snapshotId: this.snapshotId,
      parentSnapshotId: parentId,
      sequenceNumber: this.sequenceNumber,
      firstRowId: base.nextRowId,
    };
    const manifests = await this.#merging.apply(this.#writer, await change.manifests(this.#writer, parent));
    const list = await this.#writer.writeList(ids, manifests);
    this.#used = new Set([list.path, ...manifests.map(({ path }) => path)]);
    const before = parentId === null ? null : (base.snapshots.get(parentId)?.summary ?? {});
    const snapshot: JsonObject = {
      'snapshot-id': ids.snapshotId,
      ...(parentId === null ? {} : { 'parent-snapshot-id': parentId }),
      'sequence-number': ids.sequenceNumber,
      'timestamp-ms': Date.now(),
      'manifest-list': list.path,
      summary: { ...summarize(change.operation, change.counts, before), ...change.summary },
      'schema-id': schema.schemaId,
      ...(base.formatVersion === 3 ? { 'first-row-id': ids.firstRowId, 'added-rows': list.addedRows } : {}),
    };
    return {
      identifier: { catalog: name.catalog, namespace: name.namespace, name: name.table },
      requirements: requirementsOf(this.#write, base),
      updates: [
        ...shapeUpdates(this.#write, base),
        { action: 'add-snapshot', snapshot },
        {
          action: 'set-snapshot-ref',
          'ref-name': branch,
          type: 'branch',
          'snapshot-id': ids.snapshotId,
          ...ref?.retention,
        },
      ],
      ...printLoads(loads ?? (shape === 'replace' ? { forgotten: { branch } } : undefined)),
    };
  }

  async rebase(catalog: WriteCatalog): Promise<void> {
    const { base, shape, name } = this.#write;
    if (shape === 'create') throw new SkeinError('TABLE_EXISTS', 'the table was made meanwhile');
    const table = await catalog.loadTable(name);
    const isSame =
      table.tableUuid === base.tableUuid &&
      table.formatVersion === base.formatVersion &&
      table.currentSchemaId === base.currentSchemaId &&
      table.defaultSpecId === base.defaultSpecId &&
      (shape === 'keep' || (table.schemas.length === base.schemas.length && table.specs.length === base.specs.length));
    if (!isSame) throw new SkeinError('COMMIT_CONFLICT', 'the table was changed or replaced meanwhile');
    this.#base = table;
  }

  #manifestsOf(base: TableMetadata, snapshotId: bigint): Promise<readonly ManifestFile[]> {
    const { tableUuid, formatVersion, location, fields, specs, defaultSpecId } = base;
    const parent = base.snapshots.get(snapshotId);
    const snapshots = new Map(parent === undefined ? [] : [[snapshotId, parent]]);
    const table = { tableUuid, formatVersion, location, fields, specs, defaultSpecId, snapshots };
    return this.#reader.list({ table, snapshotId, allowedRoots: rootsOf(base) });
  }
}

/** The folders in which a table's manifests lie. */
export const rootsOf = (table: TableMetadata): readonly string[] => [table.location, metadataFolder(table)];

/** Returns a random positive int64, as Iceberg's own libraries do. */
const newSnapshotId = (): bigint => BigInt.asUintN(63, randomBytes(8).readBigUInt64BE()) || 1n;

/** @throws NOT_SUPPORTED for a table of format version 1 */
export function writtenVersion({ formatVersion }: Pick<TableMetadata, 'formatVersion'>): WrittenVersion {
  if (formatVersion !== 1) return formatVersion;
  throw new SkeinError(
    'NOT_SUPPORTED',
    'tables of format version 1 are read, not written: upgrade the table to version 2',
  );
}
