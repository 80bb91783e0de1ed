import { randomUUID } from 'node:crypto';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { SkeinError } from '#shared/error.ts';
import { decodeDeletionVector } from '#shared/iceberg/deletion-vector.ts';
import type { PositionSet } from '#shared/iceberg/position-set.ts';
import { STAGED_PREFIX } from '#shared/iceberg/table-folders.ts';
import { fileKey } from '#shared/iceberg/write/rewrite-manifests.ts';
import { changeRows, type DeletesOf } from '#shared/iceberg/write/change-rows.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import { encodePositionDeletes } from '#shared/iceberg/write/position-deletes.ts';
import { encodeVectors } from '#shared/iceberg/write/puffin.ts';
import type { SnapshotChange } from '#shared/iceberg/write/snapshot-change.ts';
import { must } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { Queries } from '../operation/queries.ts';
import type { Outcome } from '../operation/outcome.ts';
import type { WriteOutcome, WriteTarget } from '../operation/writes.ts';
import { wholeText } from '../statement/derived-text.ts';
import type { ObjectName } from '../statement/statement.ts';
import { droppedDeletes } from './choose-files.ts';
import { vectorOf, type ChangeMode, type FileChange } from './plan-changes.ts';
import { rewriteQuery } from './rewrite-query.ts';
import { columnByColumn, type RunningWrite } from './running-write.ts';

/** The services of a statement that the change of a table's rows needs. */
export type RowServices = {
  readonly queries: Pick<
    Queries,
    | 'describe'
    | 'prove'
    | 'explain'
    | 'returning'
    | 'texts'
    | 'in'
    | 'columns'
    | 'planWrite'
    | 'planRewrite'
    | 'planLoad'
    | 'files'
    | 'forget'
  >;
  readonly target: (name: ObjectName) => Promise<WriteTarget>;
  /** Begins a write of the table, when all that can be refused has been. */
  readonly begin: (target: WriteTarget) => Promise<RunningWrite>;
};

/** A statement, as the table's properties call it. */
type Verb = 'delete' | 'update' | 'merge';

/** How often a statement begins again when another commit has changed what it has read. */
const RESTARTS_MAX = 10;
/** Files below this size meet in one task, up to it. */
const PART_BYTES = 32 * 2 ** 20;
/** Position delete files that are written at once. */
const LISTS_AT_ONCE = 8;

/** Does the work, again when another commit came first that it has not seen and may not miss. @throws COMMIT_CONFLICT when that goes on */
export async function withRestarts(
  { queries }: Pick<RowServices, 'queries'>,
  work: () => Promise<WriteOutcome>,
): Promise<WriteOutcome> {
  for (let restarts = 0; ; restarts += 1) {
    try {
      return await work();
    } catch (error) {
      if (SkeinError.of(error).code !== 'COMMIT_CONFLICT' || restarts >= RESTARTS_MAX) throw error;
      queries.forget();
    }
  }
}

/** The table. @throws NOT_SUPPORTED for one whose own columns hide the addresses of its rows */
export async function addressedTarget(name: ObjectName, targetOf: RowServices['target']): Promise<WriteTarget> {
  const target = await targetOf(name);
  const twin = target.schema.fields.find((field) => ['_file', '_pos'].includes(foldIdentifier(field.name)));
  if (twin !== undefined) {
    throw new SkeinError('NOT_SUPPORTED', `the column ${twin.name} has the name of a row's address`);
  }
  return target;
}

/** The table, and every file of its snapshot. @throws as `addressedTarget` */
export async function readTarget(
  name: ObjectName,
  { target: targetOf, queries }: RowServices,
): Promise<{ readonly target: WriteTarget; readonly all: readonly ScanFile[] }> {
  const target = await addressedTarget(name, targetOf);
  return { target, all: await snapshotFiles(target, queries) };
}

/** Every file of the table's snapshot. */
export async function snapshotFiles(
  target: WriteTarget,
  queries: Pick<Queries, 'files'>,
): Promise<readonly ScanFile[]> {
  const { files } = rewriteQuery(target);
  const span = { text: files, offset: 0 };
  return target.base.currentSnapshotId === null ? [] : queries.files(span, wholeText(span));
}

/** The statement's tables are loaded again when a snapshot expires while it waits. @throws COMMIT_CONFLICT when they were */
export async function requireSame(name: ObjectName, { base }: WriteTarget, { target }: RowServices): Promise<void> {
  if ((await target(name)).base.currentSnapshotId === base.currentSnapshotId) return;
  throw new SkeinError('COMMIT_CONFLICT', 'the snapshot that it reads has expired');
}

/** The table's `write.delete.mode` and its like. */
export function modeOf({ base }: WriteTarget, verb: Verb): ChangeMode {
  const value = base.properties[`write.${verb}.mode`];
  return value === 'copy-on-write' || value === 'merge-on-read' ? value : null;
}

/** Files whose rows go. */
export type Replaced = {
  readonly target: WriteTarget;
  /** Every file of the snapshot. */
  readonly all: readonly ScanFile[];
  readonly changes: readonly FileChange[];
};

/** Their replacement: the rows that stay, and the positions of those that go. */
export type InPlace = Omit<Outcome, 'rowsProduced'> & {
  readonly deletes: readonly DeletesOf[];
  readonly files: readonly NewDataFile[];
};

/** Writes the files of a change. A file that is written anew is read with a deletion vector of its rows that go, which nobody else sees. */
export async function writeChanges(
  { target, changes }: Replaced,
  write: RunningWrite,
  queries: Pick<Queries, 'planRewrite'>,
): Promise<InPlace> {
  const isListed = target.base.formatVersion < 3;
  const deletes = await (isListed ? writeLists(changes, write) : writeMarks(changes, write));
  const parts = partsOf(await withVectors(changes, write));
  if (parts.length === 0) return { deletes, files: [], bytesScanned: 0, fragments: 0 };
  const { sql, schema } = rewriteQuery(target);
  const rows = await queries.planRewrite(sql, parts);
  return { deletes, ...(await write.run(rows, { assignments: columnByColumn(schema), schema, keepsOrder: true })) };
}

/** The change of the table's snapshot. @param verb says whose isolation level counts @param operation absent = by what it does */
export function snapshotChangeOf(
  { target, all, changes }: Replaced,
  files: {
    readonly deletes: readonly DeletesOf[];
    readonly rewritten: readonly NewDataFile[];
    readonly added: readonly NewDataFile[];
  },
  verb: Verb,
  operation?: SnapshotChange['operation'],
): SnapshotChange {
  const { base, spec } = target;
  const removed = new Set(changes.filter(({ kind }) => kind !== 'mark').map(({ file }) => file.path));
  const merged = changes.flatMap(({ kind, file }) => (kind === 'mark' ? (vectorOf(file) ?? []) : []));
  const mergedKeys = merged.map(({ path, offset }) => fileKey({ path, contentOffset: offset }));
  const snapshot = base.currentSnapshotId === null ? undefined : base.snapshots.get(base.currentSnapshotId);
  return changeRows({
    ...files,
    ...(operation === undefined ? {} : { operation }),
    removed,
    removedDeletes: droppedDeletes(all, removed).union(new Set(mergedKeys)),
    specId: spec.specId,
    readAt: snapshot?.sequenceNumber ?? 0n,
    isolation: base.properties[`write.${verb}.isolation-level`] === 'snapshot' ? 'snapshot' : 'serializable',
  });
}

/** Where the write's data files go. */
type Place = Pick<RunningWrite, 'storage' | 'folder'>;

/** Writes the positions that go with those that have gone before, as deletion vectors in one file. */
async function writeMarks(changes: readonly FileChange[], { storage, folder }: Place): Promise<readonly DeletesOf[]> {
  const deleted = [];
  for (const one of changes) {
    if (one.kind !== 'mark') continue;
    const { file, positions } = one;
    await addStanding(file, { storage, positions });
    deleted.push({ dataFile: file.path, positions });
  }
  if (deleted.length === 0) return [];
  const path = `${folder}/${randomUUID()}.puffin`;
  const { bytes, vectors } = encodeVectors(deleted);
  await storage.write(path, bytes);
  return vectors.map(({ dataFile, offset, lengthBytes, cardinality }) => ({
    path,
    format: 'puffin',
    recordCount: cardinality,
    sizeBytes: bytes.length,
    dataFile,
    content: { offset, lengthBytes },
  }));
}

/** Writes the positions that go in files of their own, one for each data file (format 2). */
async function writeLists(changes: readonly FileChange[], { storage, folder }: Place): Promise<readonly DeletesOf[]> {
  const marked = changes.flatMap((one) => (one.kind === 'mark' ? [one] : [])).values();
  const made: DeletesOf[] = [];
  const writeRest = async (): Promise<void> => {
    for (const { file, positions } of marked) {
      const path = `${folder}/${randomUUID()}-deletes.parquet`;
      const bytes = encodePositionDeletes(file.path, positions);
      await storage.write(path, bytes);
      const sizeBytes = bytes.length;
      made.push({ path, format: 'parquet', recordCount: positions.size, sizeBytes, dataFile: file.path });
    }
  };
  await Promise.all(Array.from({ length: LISTS_AT_ONCE }, writeRest));
  return made;
}

/** Adds the positions of the vector that a file has. @throws INVALID_TABLE_DATA */
async function addStanding(
  file: ScanFile,
  { storage, positions }: Pick<Place, 'storage'> & { readonly positions: PositionSet },
): Promise<void> {
  const vector = vectorOf(file);
  if (vector === undefined) return;
  const blob = await storage.readRange(vector.path, vector.offset, vector.lengthBytes);
  const standing = await decodeDeletionVector(blob, vector.cardinality);
  if (standing === undefined)
    throw new SkeinError('INVALID_TABLE_DATA', `a deletion vector in ${vector.path} is corrupt`);
  for (const position of standing) positions.add(Number(position));
}

/** The files that are written anew, each with a deletion vector of its rows that go. */
async function withVectors(changes: readonly FileChange[], { storage, folder }: Place): Promise<readonly ScanFile[]> {
  const rewritten = changes.flatMap((one) => (one.kind === 'rewrite' ? [one] : []));
  if (rewritten.length === 0) return [];
  const path = `${folder}/${STAGED_PREFIX}-${randomUUID()}.puffin`;
  const { bytes, vectors } = encodeVectors(
    rewritten.map(({ file, positions }) => ({ dataFile: file.path, positions })),
  );
  await storage.write(path, bytes);
  return rewritten.map(({ file }, i) => {
    const { offset, lengthBytes, cardinality } = must(vectors[i], 'a vector for each file');
    return { ...file, deletes: [...file.deletes, { kind: 'vector', path, offset, lengthBytes, cardinality }] };
  });
}

/** Divides files into tasks: small ones share one. */
function partsOf(files: readonly ScanFile[]): readonly (readonly ScanFile[])[] {
  const parts: { files: ScanFile[]; bytes: number }[] = [];
  for (const file of files) {
    const last = parts.at(-1);
    if (last !== undefined && last.bytes + file.sizeBytes <= PART_BYTES) {
      last.files.push(file);
      last.bytes += file.sizeBytes;
    } else parts.push({ files: [file], bytes: file.sizeBytes });
  }
  return parts.map((part) => part.files);
}
