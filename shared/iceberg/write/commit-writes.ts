import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { printJson, type JsonObject } from '#shared/json.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import { limitsApart } from '../decode-limits.ts';
import { LruManifestCache } from '../manifest-cache.ts';
import type { ManifestFile } from '../manifest.ts';
import { snapshotManifests } from '../snapshot-manifests.ts';
import { metadataFolder } from '../table-folders.ts';
import type { TableMetadata } from '../table-metadata.ts';
import type { WrittenVersion } from './manifest-schema.ts';
import { ManifestWriter } from './manifest-writer.ts';
import { summarize } from './snapshot-summary.ts';
import { requirementsOf, shapeUpdates } from './table-updates.ts';
import type { TableName, TableWrite } from './table-write.ts';

/** Outcome of a commit, by its key; `FORGOTTEN`: it cannot happen any more, and whether it did is no longer known. */
export type CommitOutcome = 'COMMITTED' | 'NOT_COMMITTED' | 'FORGOTTEN';

/** The part of the catalog that a writer needs. */
export interface WriteCatalog {
  loadTable(name: TableName): Promise<TableMetadata>;
  /** Commits once per key. @param transaction JSON of `CommitTransactionRequest` */
  commitTables(key: string, transaction: Uint8Array): Promise<void>;
  /** Says whether the commit of a key happened; from then on it cannot happen. */
  abandonCommit(key: string): Promise<CommitOutcome>;
}

export type CommitOptions = {
  /** How often a commit is tried again when another one came first. */
  readonly retriesMax: number;
  /** Time for which the catalog is asked how a commit ended. */
  readonly settleMs: number;
  readonly signal: AbortSignal;
};

/** Size of a manifest when the table has no `commit.manifest.target-size-bytes`. */
const MANIFEST_BYTES = 8 * 2 ** 20;
/** Memory limit for reading the parent snapshot's manifest list. */
const LIST_FILE_BYTES = 256 * 2 ** 20;
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
 * @returns the new snapshots' ids, in the order of the writes
 * @throws COMMIT_CONFLICT, TABLE_EXISTS, COMMIT_STATE_UNKNOWN: then all files must stay, also the data files
 */
export async function commitWrites(
  catalog: WriteCatalog,
  storage: Storage,
  writes: readonly TableWrite[],
  options: CommitOptions,
): Promise<readonly bigint[]> {
  const snapshots = writes.map((write) => new SnapshotAttempts(storage, write));
  try {
    await commitAttempts(catalog, snapshots, options);
  } catch (error) {
    if (!isUnknown(error))
      await removeFiles(
        storage,
        snapshots.flatMap(({ made }) => made),
      );
    throw error;
  }
  await removeFiles(
    storage,
    snapshots.flatMap(({ superseded }) => superseded),
  );
  return snapshots.map(({ snapshotId }) => snapshotId);
}

/** Whether the outcome of the commit is unknown. */
export const isUnknown = (error: unknown): boolean =>
  error instanceof SkeinError && error.code === 'COMMIT_STATE_UNKNOWN';

async function commitAttempts(
  catalog: WriteCatalog,
  snapshots: readonly SnapshotAttempts[],
  options: CommitOptions,
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const changes: JsonObject[] = [];
    for (const snapshot of snapshots) changes.push(await snapshot.nextChange());
    options.signal.throwIfAborted();
    const refusal = await send(catalog, Buffer.from(printJson({ 'table-changes': changes })), options);
    if (refusal === undefined) return;
    if (refusal.code !== 'COMMIT_CONFLICT' || attempt >= options.retriesMax) throw refusal;
    await sleep(RETRY_PAUSE_MS * (1 + Math.random() * Math.min(attempt, 20)));
    for (const snapshot of snapshots) await snapshot.rebase(catalog);
  }
}

/** Errors after which the commit may have happened, or may still happen. */
const WITHOUT_ANSWER: ReadonlySet<ErrorCode> = new Set([
  'CATALOG_UNAVAILABLE',
  'COMMIT_STATE_UNKNOWN',
  'INTERNAL_ERROR',
]);

/**
 * Sends one commit under a key of its own, until its outcome is known.
 * @returns undefined when it happened; otherwise the reason, and then it cannot happen any more
 * @throws COMMIT_STATE_UNKNOWN
 */
async function send(
  catalog: WriteCatalog,
  transaction: Uint8Array,
  { settleMs, signal }: CommitOptions,
): Promise<SkeinError | undefined> {
  const key = newUuidV7(Date.now());
  const endMs = performance.now() + settleMs;
  for (;;) {
    let refusal: SkeinError;
    try {
      await catalog.commitTables(key, transaction);
      return undefined;
    } catch (error) {
      refusal = SkeinError.of(error);
    }
    // The catalog keeps a conflict as the answer of the key.
    if (refusal.code === 'COMMIT_CONFLICT') return refusal;
    if (!WITHOUT_ANSWER.has(refusal.code) || signal.aborted || performance.now() >= endMs) {
      return abandon(catalog, key, refusal);
    }
    await sleep(RETRY_PAUSE_MS * (1 + Math.random() * 20));
  }
}

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

async function removeFiles(storage: Storage, uris: readonly string[]): Promise<void> {
  // Best effort: nothing refers to these files.
  await storage.remove(uris).catch(() => undefined);
}

/** The snapshot of one table, through all attempts to commit it. */
class SnapshotAttempts {
  readonly snapshotId = newSnapshotId();
  readonly #storage: Storage;
  readonly #write: TableWrite;
  readonly #writer: ManifestWriter;
  readonly #lists: string[] = [];
  #base: TableMetadata;

  constructor(storage: Storage, write: TableWrite) {
    const { base, schema, spec } = write;
    this.#storage = storage;
    this.#write = write;
    this.#base = base;
    this.#writer = new ManifestWriter(storage, {
      formatVersion: writtenVersion(base),
      schema,
      spec,
      snapshotId: this.snapshotId,
      folder: metadataFolder(base),
      writeId: randomUUID(),
      targetBytes: Number(base.properties['commit.manifest.target-size-bytes']) || MANIFEST_BYTES,
    });
  }

  /** Paths of all files that it wrote. */
  get made(): readonly string[] {
    return this.#writer.made;
  }

  /** Manifest lists of the attempts before the last one. */
  get superseded(): readonly string[] {
    return this.#lists.slice(0, -1);
  }

  /** Returns the table's change in a transaction, on top of the table as last loaded. */
  async nextChange(): Promise<JsonObject> {
    const { name, shape, schema, change } = this.#write;
    const base = this.#base;
    const parentId = shape === 'keep' ? (base.refs.get('main')?.snapshotId ?? base.currentSnapshotId) : null;
    const parent = parentId === null ? [] : await this.#manifestsOf(base, parentId);
    const ids = {
      snapshotId: this.snapshotId,
      parentSnapshotId: parentId,
      sequenceNumber: base.lastSequenceNumber + 1n,
      firstRowId: base.nextRowId,
    };
    const list = await this.#writer.writeList(ids, await change.manifests(this.#writer, parent));
    this.#lists.push(list.path);
    const before = parentId === null ? null : (base.snapshots.get(parentId)?.summary ?? {});
    const snapshot: JsonObject = {
      'snapshot-id': ids.snapshotId,
      ...(parentId === null ? {} : { 'parent-snapshot-id': parentId }),
      'sequence-number': ids.sequenceNumber,
      'timestamp-ms': Date.now(),
      'manifest-list': list.path,
      summary: summarize(change.operation, change.counts, before),
      'schema-id': schema.schemaId,
      ...(base.formatVersion === 3 ? { 'first-row-id': ids.firstRowId, 'added-rows': list.addedRows } : {}),
    };
    return {
      identifier: { catalog: name.catalog, namespace: name.namespace, name: name.table },
      requirements: requirementsOf(shape, base),
      updates: [
        ...shapeUpdates(this.#write, base),
        { action: 'add-snapshot', snapshot },
        { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': ids.snapshotId },
      ],
    };
  }

  /** Loads the table again and continues from its current state. @throws COMMIT_CONFLICT, TABLE_EXISTS */
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
    return snapshotManifests(this.#storage, base, snapshotId, {
      manifestCache: new LruManifestCache(LIST_FILE_BYTES),
      allowedRoots: [base.location, metadataFolder(base)],
      limits: limitsApart(LIST_FILE_BYTES),
    });
  }
}

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
