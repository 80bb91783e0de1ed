import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import { limitsApart } from '#shared/iceberg/decode-limits.ts';
import { LruManifestCache } from '#shared/iceberg/manifest-cache.ts';
import type { ManifestFile } from '#shared/iceberg/manifest.ts';
import { printPartitionFields, type PartitionSpec } from '#shared/iceberg/partition-spec.ts';
import { snapshotManifests } from '#shared/iceberg/snapshot-manifests.ts';
import { printSchema, type Schema } from '#shared/iceberg/schema.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import {
  newManifestFile,
  writeManifest,
  writeManifestList,
  type NewDataFile,
} from '#shared/iceberg/write/write-manifest.ts';
import type { JsonObject } from '#shared/json.ts';
import type { Storage } from '#shared/storage/storage.ts';
import type { TableName } from './load-arguments.ts';
import { CommitStateUnknown, type RestCatalog } from './rest-catalog.ts';

/** The commit of a load: the files of one snapshot, and the table's metadata at the time they were written. */
export type Commit = {
  readonly name: TableName;
  readonly mode: 'append' | 'create' | 'replace';
  readonly base: TableMetadata;
  readonly schema: Schema;
  readonly spec: PartitionSpec;
  readonly files: readonly NewDataFile[];
};

const FILES_PER_MANIFEST = 5_000;
const LIST_CACHE_BYTES = 64 * 2 ** 20;
/** Limit of memory for the target table's manifest list. */
const LIST_FILE_BYTES = 256 * 2 ** 20;
const RETRY_PAUSE_MS = 50;

/**
 * Adds one snapshot to `main`. On a conflict with another commit, the new manifests are appended to that commit's list and the commit is
 * retried, up to `retriesMax` times, as long as schema and partition spec are unchanged.
 * Metadata files of a failed commit are removed; those of a commit with unknown outcome stay.
 * @returns the new snapshot's id
 * @throws COMMIT_CONFLICT, TABLE_EXISTS, CommitStateUnknown
 */
export async function commitFiles(
  catalog: RestCatalog,
  io: Storage,
  commit: Commit,
  retriesMax: number,
): Promise<bigint> {
  const made: string[] = [];
  try {
    return await new Committer(catalog, io, commit, made).run(retriesMax);
  } catch (error) {
    if (!(error instanceof CommitStateUnknown)) await io.remove(made);
    throw error;
  }
}

class Committer {
  readonly #catalog: RestCatalog;
  readonly #io: Storage;
  readonly #commit: Commit;
  readonly #made: string[];
  readonly #commitId = randomUUID();
  readonly #snapshotId = newSnapshotId();

  constructor(catalog: RestCatalog, io: Storage, commit: Commit, made: string[]) {
    this.#catalog = catalog;
    this.#io = io;
    this.#commit = commit;
    this.#made = made;
  }

  async run(retriesMax: number): Promise<bigint> {
    const manifests = await this.#writeManifests();
    let { base } = this.#commit;
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#tryCommit(base, manifests, attempt);
        return this.#snapshotId;
      } catch (error) {
        if (error instanceof CommitStateUnknown) return await this.#resolve(error);
        const lost = error instanceof SkeinError && error.code === 'COMMIT_CONFLICT';
        if (!lost || attempt >= retriesMax) throw error;
        if (this.#commit.mode === 'create') throw new SkeinError('TABLE_EXISTS', 'the table was made meanwhile');
      }
      await setTimeout(RETRY_PAUSE_MS * (1 + Math.random() * Math.min(attempt, 20)));
      base = await this.#reload();
    }
  }

  /** After a lost response, checks whether the table has the snapshot; if it does not, the commit may still arrive. */
  async #resolve(error: CommitStateUnknown): Promise<bigint> {
    try {
      const table = await this.#catalog.loadTable(this.#commit.name);
      if (table.snapshots.has(this.#snapshotId)) return this.#snapshotId;
    } catch {
      // The first error says more.
    }
    throw error;
  }

  async #reload(): Promise<TableMetadata> {
    const table = await this.#catalog.loadTable(this.#commit.name);
    const { base, mode } = this.#commit;
    const isSame =
      table.tableUuid === base.tableUuid &&
      table.currentSchemaId === base.currentSchemaId &&
      table.defaultSpecId === base.defaultSpecId &&
      (mode === 'append' || (table.schemas.length === base.schemas.length && table.specs.length === base.specs.length));
    if (!isSame) throw new SkeinError('COMMIT_CONFLICT', 'the table was changed or replaced meanwhile');
    return table;
  }

  async #writeManifests(): Promise<readonly ManifestFile[]> {
    const { schema, spec, files } = this.#commit;
    const manifests: ManifestFile[] = [];
    for (let start = 0; start < files.length; start += FILES_PER_MANIFEST) {
      const group = files.slice(start, start + FILES_PER_MANIFEST);
      const path = `${this.#folder}/${this.#commitId}-m${manifests.length}.avro`;
      const bytes = writeManifest(schema, spec, this.#snapshotId, group);
      await this.#write(path, bytes);
      manifests.push(
        newManifestFile(schema, spec, this.#snapshotId, { path, lengthBytes: bytes.length, files: group }),
      );
    }
    return manifests;
  }

  async #tryCommit(base: TableMetadata, added: readonly ManifestFile[], attempt: number): Promise<void> {
    const { mode, name, schema, files } = this.#commit;
    const parentId = mode === 'append' ? (base.refs.get('main')?.snapshotId ?? base.currentSnapshotId) : null;
    const kept = parentId === null ? [] : await this.#manifestsOf(base, parentId);
    const sequenceNumber = base.lastSequenceNumber + 1n;
    const list = `${this.#folder}/snap-${this.#snapshotId}-${attempt + 1}-${this.#commitId}.avro`;
    const ids = { snapshotId: this.#snapshotId, parentSnapshotId: parentId, sequenceNumber };
    await this.#write(list, writeManifestList(ids, [...added, ...kept]));
    const snapshot: JsonObject = {
      'snapshot-id': this.#snapshotId,
      ...(parentId === null ? {} : { 'parent-snapshot-id': parentId }),
      'sequence-number': sequenceNumber,
      'timestamp-ms': Date.now(),
      'manifest-list': list,
      summary: summarize(files, parentId === null ? null : (base.snapshots.get(parentId)?.summary ?? {})),
      'schema-id': schema.schemaId,
    };
    const updates = [
      ...changesBefore(this.#commit, base),
      { action: 'add-snapshot', snapshot },
      { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': this.#snapshotId },
    ];
    await this.#catalog.commit(name, requirementsOf(mode, base), updates);
  }

  #manifestsOf(base: TableMetadata, snapshotId: bigint): Promise<readonly ManifestFile[]> {
    const options = {
      manifestCache: new LruManifestCache(LIST_CACHE_BYTES),
      allowedRoots: [base.location],
      limits: limitsApart(LIST_FILE_BYTES),
    };
    return snapshotManifests(this.#io, base, snapshotId, options);
  }

  async #write(uri: string, bytes: Uint8Array): Promise<void> {
    this.#made.push(uri);
    await this.#io.write(uri, bytes);
  }

  get #folder(): string {
    return `${this.#commit.base.location.replace(/\/$/, '')}/metadata`;
  }
}

/** A positive int64, as Iceberg's own libraries make them. */
const newSnapshotId = (): bigint => BigInt.asUintN(63, randomBytes(8).readBigUInt64BE()) || 1n;

function requirementsOf(mode: Commit['mode'], base: TableMetadata): readonly JsonObject[] {
  if (mode === 'create') return [{ type: 'assert-create' }];
  return [
    { type: 'assert-table-uuid', uuid: base.tableUuid },
    { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': base.refs.get('main')?.snapshotId ?? null },
    { type: 'assert-current-schema-id', 'current-schema-id': base.currentSchemaId },
    { type: 'assert-default-spec-id', 'default-spec-id': base.defaultSpecId },
    { type: 'assert-last-assigned-field-id', 'last-assigned-field-id': base.lastColumnId },
    { type: 'assert-last-assigned-partition-id', 'last-assigned-partition-id': base.lastPartitionId },
  ];
}

/** Metadata updates that create or reshape the table, before the snapshot is added. */
function changesBefore({ mode, schema, spec }: Commit, base: TableMetadata): readonly JsonObject[] {
  if (mode === 'append') return [];
  const shape = [
    { action: 'add-schema', schema: printSchema(schema) },
    { action: 'set-current-schema', 'schema-id': schema.schemaId },
    { action: 'add-spec', spec: { 'spec-id': spec.specId, fields: printPartitionFields(spec.fields) } },
    { action: 'set-default-spec', 'spec-id': spec.specId },
    { action: 'add-sort-order', 'sort-order': { 'order-id': 0, fields: [] } },
    { action: 'set-default-sort-order', 'sort-order-id': 0 },
  ];
  if (mode === 'replace') return [{ action: 'remove-snapshot-ref', 'ref-name': 'main' }, ...shape];
  return [
    { action: 'assign-uuid', uuid: base.tableUuid },
    { action: 'upgrade-format-version', 'format-version': base.formatVersion },
    ...shape,
    { action: 'set-location', location: base.location },
    { action: 'set-properties', updates: base.properties },
  ];
}

/** The snapshot's summary; totals only when the parent has them (`parent` null = there is none). */
function summarize(
  files: readonly NewDataFile[],
  parent: Readonly<Record<string, string>> | null,
): Readonly<Record<string, string>> {
  const records = files.reduce((sum, file) => sum + file.recordCount, 0);
  const bytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  const partitions = new Set(files.map((file) => file.partition.map(String).join('\0'))).size;
  const totals: Readonly<Record<string, number>> = {
    'data-files': files.length,
    records,
    'files-size': bytes,
    'delete-files': 0,
    'position-deletes': 0,
    'equality-deletes': 0,
  };
  const summary: Record<string, string> = {
    operation: 'append',
    'engine-name': 'skein',
    'added-data-files': String(files.length),
    'added-records': String(records),
    'added-files-size': String(bytes),
    'changed-partition-count': String(partitions),
  };
  for (const [name, added] of Object.entries(totals)) {
    const before = parent === null ? '0' : parent[`total-${name}`];
    if (before !== undefined && /^\d+$/.test(before)) summary[`total-${name}`] = String(BigInt(before) + BigInt(added));
  }
  return summary;
}
