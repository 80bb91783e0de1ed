import { randomUUID } from 'node:crypto';
import type { ScanFile } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import { decodeDeletionVector } from '#shared/iceberg/deletion-vector.ts';
import type { PositionSet } from '#shared/iceberg/position-set.ts';
import { fileKey } from '#shared/iceberg/rewrite-manifests.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { changeRows, type DeletesOf } from '#shared/iceberg/write/change-rows.ts';
import { encodeVectors } from '#shared/iceberg/write/puffin.ts';
import { must } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { Storage } from '#shared/storage/storage.ts';
import type { Delete, Outcome, Queries, WriteOutcome, WriteTarget } from '../command/command.ts';
import { icebergSqlType } from '../resolver/iceberg-sql-type.ts';
import { wholeText } from '../statement/derived-text.ts';
import type { ObjectName } from '../statement/statement.ts';
import { droppedDeletes } from './choose-files.ts';
import { MatchedRows, matchQuery } from './matched-rows.ts';
import { liveRows, planChanges, vectorOf, type ChangeMode, type FileChange } from './plan-changes.ts';
import { rewriteQuery } from './rewrite-query.ts';
import type { RowsOf } from './rows-of.ts';

/** What the change of a table's rows needs of its statement. */
export type RowServices = {
  readonly queries: Pick<Queries, 'texts' | 'files' | 'rewrite' | 'forget'>;
  readonly target: (name: ObjectName) => Promise<WriteTarget>;
  readonly write: (rows: RowsOf) => Promise<WriteOutcome>;
};

/** How often a statement begins again when another commit has changed what it has read. */
const RESTARTS_MAX = 10;
/** Files below this size meet in one task, up to it. */
const PART_BYTES = 32 * 2 ** 20;

/**
 * Deletes the rows for which a condition holds:
 * ```
 * condition ─▶ files and positions ─▶ for each file: it goes │ its positions are written │ its other rows are written anew ─▶ one commit
 * ```
 * The condition is evaluated once: a file that is written anew is read with a deletion vector of the rows that go, which stands only as long
 * as the statement runs, unless the table gets it. When another commit comes first that it has not seen and may not miss, it begins again.
 */
export async function deleteRows(input: Delete, services: RowServices): Promise<WriteOutcome> {
  for (let restarts = 0; ; restarts += 1) {
    try {
      return await deleteOnce(input, services);
    } catch (error) {
      if (SkeinError.of(error).code !== 'COMMIT_CONFLICT' || restarts >= RESTARTS_MAX) throw error;
      services.queries.forget();
    }
  }
}

async function deleteOnce(input: Delete, services: RowServices): Promise<WriteOutcome> {
  const { queries } = services;
  const target = await services.target(input.table);
  const { base } = target;
  requireAddresses(target);
  const rewriting = rewriteQuery(target);
  const all = base.currentSnapshotId === null ? [] : await filesOf(queries, rewriting.files);
  const lost = input.where === null ? sumOf(all.map(liveRows)) : null;
  if (lost !== null) {
    const outcome = { bytesScanned: 0, fragments: 0 };
    const changes = all.map((file) => ({ kind: 'remove', file }) as const);
    return lost === 0 && all.length === 0
      ? { count: 0, ...outcome }
      : change(target, { all, changes, outcome, count: lost }, services);
  }
  const { alias, where } = input;
  const matched = new MatchedRows();
  const span = where ?? { text: '', offset: input.table.position };
  const outcome = await queries.texts(span, matchQuery(target, { alias, where }), matched);
  // The statement's tables are loaded again when a snapshot expires while it waits.
  if ((await services.target(input.table)).base.currentSnapshotId !== base.currentSnapshotId) {
    throw new SkeinError('COMMIT_CONFLICT', 'the snapshot that it reads has expired');
  }
  const count = matched.size;
  if (count === 0) return { count, ...outcome };
  const mode = modeOf(base.properties['write.delete.mode']);
  const changes = planChanges(all, matched.files, { mode, formatVersion: base.formatVersion });
  return change(target, { all, changes, outcome, count }, services);
}

type Found = {
  /** Every file of the snapshot. */
  readonly all: readonly ScanFile[];
  readonly changes: readonly FileChange[];
  readonly outcome: Omit<Outcome, 'rowsProduced'>;
  /** Rows that go. */
  readonly count: number;
};

/** Writes the files of a change, and commits it. */
async function change(target: WriteTarget, found: Found, { queries, write }: RowServices): Promise<WriteOutcome> {
  const { all, changes, outcome, count } = found;
  const { base, spec, credential } = target;
  const { schema, sql } = rewriteQuery(target);
  const storage = openStorage(base.location, credential);
  const { sequenceNumber: readAt } = must(
    base.snapshots.get(must(base.currentSnapshotId, 'it has files')),
    'the snapshot that was read',
  );
  let deletes: readonly DeletesOf[] = [];
  const marked = changes.filter(({ kind }) => kind === 'mark');
  const gone = new Set(changes.filter(({ kind }) => kind !== 'mark').map(({ file }) => file.path));
  const written = await write({
    run: async (destinationOf) => {
      const columns = schema.fields.map(({ name, type }) => ({ name, type: icebergSqlType(type) }));
      const destination = await destinationOf(columns, true);
      const { folder } = destination.sink;
      deletes = await writeMarks(marked, { storage, folder });
      const parts = partsOf(await withVectors(changes, { storage, folder }));
      if (parts.length === 0) return { files: [], ...outcome };
      const ran = await queries.rewrite(sql, parts, () => Promise.resolve(destination));
      return {
        files: ran.files,
        bytesScanned: outcome.bytesScanned + ran.bytesScanned,
        fragments: outcome.fragments + ran.fragments,
      };
    },
    assign: () => Promise.resolve({ target, assignments: schema.fields.map((field, source) => ({ field, source })) }),
    schema,
    change: (rewritten) => {
      const merged = marked.flatMap(({ file }) => vectorOf(file) ?? []);
      const replaced = merged.map(({ path, offset }) => fileKey({ path, contentOffset: offset }));
      return changeRows({
        removed: gone,
        removedDeletes: droppedDeletes(all, gone).union(new Set(replaced)),
        rewritten,
        added: [],
        specId: spec.specId,
        deletes,
        readAt,
        isolation: base.properties['write.delete.isolation-level'] === 'snapshot' ? 'snapshot' : 'serializable',
      });
    },
    others: () => deletes.map(({ path }) => path),
  });
  return { ...written, count };
}

type Place = {
  readonly storage: Storage;
  /** The folder of the write's data files. */
  readonly folder: string;
};

/** Writes the positions that go with those that have gone before, as deletion vectors in one file. */
async function writeMarks(marked: readonly FileChange[], { storage, folder }: Place): Promise<readonly DeletesOf[]> {
  const deleted = [];
  for (const one of marked) {
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
  const path = `${folder}/${randomUUID()}.puffin`;
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

async function filesOf(queries: Pick<Queries, 'files'>, sql: string): Promise<readonly ScanFile[]> {
  const span = { text: sql, offset: 0 };
  return queries.files(span, wholeText(span));
}

/** @throws NOT_SUPPORTED for a table whose own columns hide the addresses of its rows */
function requireAddresses({ schema }: WriteTarget): void {
  const twin = schema.fields.find(({ name }) => ['_file', '_pos'].includes(foldIdentifier(name)));
  if (twin === undefined) return;
  throw new SkeinError('NOT_SUPPORTED', `the column ${twin.name} has the name of a row's address`);
}

/** The sum; null when a part is not known. */
const sumOf = (parts: readonly (number | null)[]): number | null =>
  parts.reduce<number | null>((sum, part) => (sum === null || part === null ? null : sum + part), 0);

const modeOf = (value: TableMetadata['properties'][string] | undefined): ChangeMode =>
  value === 'copy-on-write' || value === 'merge-on-read' ? value : null;
