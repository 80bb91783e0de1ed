import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import { appendFiles } from '#shared/iceberg/write/append-files.ts';
import { commitWrites, type NewSnapshot, type WriteCatalog } from '#shared/iceberg/write/commit-writes.ts';
import type { ManifestReader } from '#shared/iceberg/write/rewrite-manifests.ts';
import type { TableWrite } from '#shared/iceberg/write/table-write.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import type { JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { Storage } from '#shared/storage/storage.ts';
import type { QueuedCommit } from './commit-queue.ts';
import type { OpenWrite, WriteJournal } from './write-journal.ts';

/** Time for which a statement waits for the catalog to say how its commit ended. */
const SETTLE_MS = 10_000;
/** An INSERT of more files is no small one: it has a commit of its own. */
const SHARED_FILES_MAX = 16;

type TableCommitParts = {
  readonly write: TableWrite;
  /** As in `CommitOptions`. */
  readonly viewChange: JsonObject | undefined;
  /** The files of a write that appends to the table and does nothing else; null for any other. */
  readonly appended: readonly NewDataFile[] | null;
  readonly principal: Principal;
  readonly catalog: WriteCatalog;
  readonly storage: Storage;
  readonly manifests: ManifestReader;
  readonly journal: Pick<WriteJournal, 'newKey'>;
  /** The intent of the write; undefined for one that writes metadata files only. */
  readonly open: OpenWrite | undefined;
  readonly retriesMax: number;
  readonly signal: AbortSignal;
  readonly begin: () => void;
};

/** The commit of one statement to one table, alone or as a part of a group's. */
export class TableCommit implements QueuedCommit<TableCommit> {
  readonly shareKey: string | null;
  readonly #parts: TableCommitParts;
  /** Undefined before the commit; the snapshot of a group is that of each member. */
  made: NewSnapshot | undefined;

  constructor(parts: TableCommitParts) {
    this.#parts = parts;
    this.shareKey = shareKeyOf(parts);
  }

  get files(): number {
    return this.appended?.length ?? 0;
  }

  get write(): TableWrite {
    return this.#parts.write;
  }

  /** The files of a write that appends to the table and does nothing else; null for any other. */
  get appended(): readonly NewDataFile[] | null {
    return this.#parts.appended;
  }

  get storage(): Storage {
    return this.#parts.storage;
  }

  get sequenceNumber(): bigint {
    return this.#parts.write.base.lastSequenceNumber;
  }

  get signal(): AbortSignal {
    return this.#parts.signal;
  }

  begin(): void {
    this.#parts.begin();
  }

  async commit(group: readonly TableCommit[], isStale: boolean): Promise<bigint> {
    const { catalog, storage, manifests, journal, retriesMax, signal, viewChange } = this.#parts;
    const members = group.map((one) => one.#parts);
    const opens = members.flatMap(({ open }) => (open === undefined ? [] : [open]));
    const [made] = await commitWrites(catalog, storage, [writeOf(members)], {
      ...(opens.length === 0 ? {} : { newKey: () => journal.newKey(opens) }),
      isStale,
      viewChange,
      retriesMax,
      settleMs: SETTLE_MS,
      signal,
      manifests,
    });
    const snapshot = must(made, 'one snapshot for one write');
    for (const one of group) one.made = snapshot;
    return snapshot.sequenceNumber;
  }
}

/** One write of the files of all. Its files are named after the first; it starts from the table as the last of them has loaded it. */
function writeOf(group: readonly TableCommitParts[]): TableWrite {
  const { write } = must(group[0], 'a group has a member');
  if (group.length === 1) return write;
  const bases = group.map(({ write: { base } }) => base);
  const base = bases.reduce((a, b) => (b.lastSequenceNumber > a.lastSequenceNumber ? b : a));
  return { ...write, base, change: appendFiles(group.flatMap(({ appended }) => appended ?? [])) };
}

/**
 * Writes share a commit when they append few files to one table in one state of its schema and partition spec, and the catalog would
 * judge them alike: by the same rights.
 */
function shareKeyOf({ write, appended, principal }: TableCommitParts): string | null {
  if (appended === null || appended.length > SHARED_FILES_MAX) return null;
  const { name, branch, base, schema, spec } = write;
  const { formatVersion, lastColumnId, lastPartitionId, location } = base;
  const shape = [base.tableUuid, formatVersion, lastColumnId, lastPartitionId, location];
  return JSON.stringify([name, branch, ...shape, schema.schemaId, spec.specId, principal]);
}
