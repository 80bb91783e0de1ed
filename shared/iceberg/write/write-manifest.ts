import { setImmediate } from 'node:timers/promises';
import { printJson } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { AvroFile } from '../avro/write-container.ts';
import { compareLiterals } from '../compare-literals.ts';
import type { ManifestEntry, ManifestFile, PartitionSummary } from '../manifest.ts';
import { printPartitionFields, type PartitionSpec } from '../partition-spec.ts';
import type { Literal } from '../predicate.ts';
import { printSchema, type Schema } from '../schema.ts';
import { encodeBound } from '../single-value.ts';
import type { Field, IcebergType } from '../type.ts';
import type { NewDataFile, NewDeleteFile } from './data-file.ts';
import { manifestSchema, type WrittenVersion } from '../manifest-schema.ts';
import {
  partitionTypes,
  partitionNames,
  partitionValue,
  toRow,
  deleteRow,
  CONTENTS,
  NO_STATISTICS,
  statisticsOf,
} from './manifest-rows.ts';

/** The table and snapshot that manifests are written for. */
export type ManifestTarget = {
  readonly formatVersion: WrittenVersion;
  readonly schema: Schema;
  readonly spec: PartitionSpec;
  readonly snapshotId: bigint;
};

/** A manifest that is not written yet: its bytes, and its entry in a manifest list except path and length. */
export type EncodedManifest = {
  readonly bytes: Uint8Array;
  readonly entry: Omit<ManifestFile, 'path' | 'lengthBytes'>;
};

/** Stands for the sequence number of the snapshot, which is known when its manifest list is written. */
export const UNASSIGNED = -1n;

/** Number of rows that are encoded before the event loop has a turn: less than 10 ms for files of a hundred columns. */
const ROWS_PER_TURN = 100;

/**
 * Encodes manifests of data files that a snapshot adds, each of about `targetBytes`; none when there are no files. Row ids are left to
 * inheritance, and sequence numbers unless one is given, so the manifests stay valid when the commit is tried again on top of another one.
 */
export async function* encodeManifests(
  target: ManifestTarget,
  files: readonly NewDataFile[],
  { targetBytes, sequenceNumber = UNASSIGNED }: { readonly targetBytes: number; readonly sequenceNumber?: bigint },
): AsyncGenerator<EncodedManifest, undefined> {
  for (let start = 0; start < files.length;) {
    const encoder = new ManifestEncoder(target);
    let end = start;
    while (end < files.length && encoder.sizeBytes < targetBytes) {
      encoder.add(must(files[end], 'below the length'), sequenceNumber);
      end += 1;
      if (end % ROWS_PER_TURN === 0) await setImmediate();
    }
    yield encoder.end();
    start = end;
  }
}

/** Encodes a manifest of delete files that a snapshot adds. @param fields those in which the sources of the spec are found */
export async function encodeDeletes(
  target: ManifestTarget,
  fields: readonly Field[],
  files: readonly NewDeleteFile[],
): Promise<EncodedManifest> {
  const encoder = new ManifestEncoder(target, { fields, content: 'deletes' });
  for (const [i, file] of files.entries()) {
    encoder.addDeletes(file);
    if (i % ROWS_PER_TURN === 0) await setImmediate();
  }
  return encoder.end();
}

/** Encodes a manifest of files that the parent has, each of which stays or goes. Undefined when there are no files. */
export async function encodeParents(
  target: ManifestTarget,
  { fields, content }: ParentFiles,
  statusOf: (entry: ManifestEntry) => 'existing' | 'deleted',
  entries: AsyncIterable<ManifestEntry>,
): Promise<EncodedManifest | undefined> {
  const encoder = new ManifestEncoder(target, { fields, content });
  let rows = 0;
  for await (const entry of entries) {
    if (statusOf(entry) === 'existing') encoder.addExisting(entry);
    else encoder.addDeleted(entry);
    rows += 1;
    if (rows % ROWS_PER_TURN === 0) await setImmediate();
  }
  return rows === 0 ? undefined : encoder.end();
}

/** `fields`: those in which the sources of the spec are found. */
type ParentFiles = { readonly fields: readonly Field[]; readonly content: ManifestFile['content'] };

/** Encodes one manifest: entries of files that the snapshot adds, keeps or removes. */
export class ManifestEncoder {
  readonly #target: ManifestTarget;
  readonly #types: readonly IcebergType[];
  readonly #names: readonly string[];
  readonly #summaries: readonly SummaryBuilder[];
  readonly #file: AvroFile;
  readonly #content: ManifestFile['content'];
  #files = 0;
  #rows = 0;
  #existingFiles = 0;
  #existingRows = 0;
  #deletedFiles = 0;
  #deletedRows = 0;
  /** The lowest sequence number of the files that have one. */
  #oldest: bigint | undefined;

  constructor(target: ManifestTarget, { fields, content }: ParentFiles = ofTarget(target)) {
    const { schema, spec, formatVersion } = target;
    this.#target = target;
    this.#content = content;
    this.#types = partitionTypes({ fields }, spec);
    this.#summaries = this.#types.map((type) => new SummaryBuilder(type));
    const columns = spec.fields.map((field, index) => ({
      fieldId: field.fieldId,
      name: field.name,
      type: must(this.#types[index], 'one type per field'),
    }));
    const avroSchema = manifestSchema(columns, formatVersion);
    this.#names = partitionNames(avroSchema);
    this.#file = new AvroFile(avroSchema, {
      schema: printJson(printSchema(schema)),
      'schema-id': String(schema.schemaId),
      'partition-spec': printJson(printPartitionFields(spec.fields)),
      'partition-spec-id': String(spec.specId),
      'format-version': String(formatVersion),
      content,
    });
  }

  /** Bytes so far; the last rows may not be compressed yet. */
  get sizeBytes(): number {
    return this.#file.sizeBytes;
  }

  add(file: NewDataFile, sequenceNumber = UNASSIGNED): void {
    const isAssigned = sequenceNumber !== UNASSIGNED;
    this.#files += 1;
    this.#rows += file.recordCount;
    if (isAssigned) this.#lower(sequenceNumber);
    for (const [index, summary] of this.#summaries.entries()) summary.add(file.partition[index] ?? null);
    this.#file.add({
      status: 1,
      snapshot_id: this.#target.snapshotId,
      sequence_number: isAssigned ? sequenceNumber : null,
      file_sequence_number: null,
      data_file: { ...toRow(file, this.#partitionRow(file.partition)), first_row_id: null },
    });
  }

  /** Adds a delete file; its sequence number is the snapshot's. */
  addDeletes(file: NewDeleteFile): void {
    this.#files += 1;
    this.#rows += file.recordCount;
    for (const [index, summary] of this.#summaries.entries()) summary.add(file.partition[index] ?? null);
    this.#file.add({
      status: 1,
      snapshot_id: this.#target.snapshotId,
      sequence_number: null,
      file_sequence_number: null,
      data_file: deleteRow(file, this.#partitionRow(file.partition)),
    });
  }

  /** Adds a file that the parent has, and that stays: with the snapshot that added it, its numbers and its statistics. */
  addExisting(entry: ManifestEntry): void {
    const { file, snapshotId, sequenceNumber } = entry;
    this.#existingFiles += 1;
    this.#existingRows += file.recordCount;
    this.#lower(sequenceNumber);
    this.#addParents(entry, { status: 0, snapshotId, statistics: statisticsOf(file) });
  }

  #lower(sequenceNumber: bigint): void {
    if (this.#oldest === undefined || sequenceNumber < this.#oldest) this.#oldest = sequenceNumber;
  }

  /** Adds a file that the snapshot removes; it needs no statistics any more. */
  addDeleted(entry: ManifestEntry): void {
    this.#deletedFiles += 1;
    this.#deletedRows += entry.file.recordCount;
    this.#addParents(entry, { status: 2, snapshotId: this.#target.snapshotId, statistics: NO_STATISTICS });
  }

  #addParents(
    { sequenceNumber, fileSequenceNumber, file }: ManifestEntry,
    { status, snapshotId, statistics }: { status: number; snapshotId: bigint; statistics: object },
  ): void {
    const { content, recordCount, partition, sizeBytes, path, format, equalityIds, sortOrderId, firstRowId } = file;
    for (const [index, summary] of this.#summaries.entries()) summary.add(partition[index] ?? null);
    this.#file.add({
      status,
      snapshot_id: snapshotId,
      sequence_number: sequenceNumber,
      file_sequence_number: fileSequenceNumber,
      data_file: {
        content: CONTENTS.indexOf(content),
        file_path: path,
        file_format: foldKeyword(format),
        partition: this.#partitionRow(partition),
        record_count: recordCount,
        file_size_in_bytes: sizeBytes,
        ...statistics,
        equality_ids: equalityIds.length === 0 ? null : equalityIds,
        sort_order_id: sortOrderId ?? null,
        first_row_id: firstRowId ?? null,
        referenced_data_file: file.referencedDataFile ?? null,
        content_offset: file.contentOffset ?? null,
        content_size_in_bytes: file.contentSizeBytes ?? null,
      },
    });
  }

  end(): EncodedManifest {
    const entry = {
      specId: this.#target.spec.specId,
      content: this.#content,
      sequenceNumber: 0n,
      minSequenceNumber: this.#oldest ?? UNASSIGNED,
      addedSnapshotId: this.#target.snapshotId,
      addedFiles: this.#files,
      existingFiles: this.#existingFiles,
      deletedFiles: this.#deletedFiles,
      addedRows: this.#rows,
      existingRows: this.#existingRows,
      deletedRows: this.#deletedRows,
      partitions: this.#summaries.map((summary) => summary.end()),
      firstRowId: undefined,
    };
    return { bytes: this.#file.end(), entry };
  }

  /** Returns the partition values under their names in the Avro schema. */
  #partitionRow(partition: NewDataFile['partition']): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      this.#names.map((name, index) => {
        const type = must(this.#types[index], 'one type per field');
        return [name, partitionValue(type, partition[index] ?? null)];
      }),
    );
  }
}

const ofTarget = ({ schema }: ManifestTarget): ParentFiles => ({ fields: schema.fields, content: 'data' });

/** Summarizes one partition field over the files of a manifest. */
class SummaryBuilder {
  readonly #type: IcebergType;
  #containsNull = false;
  #containsNan = false;
  #lower: Literal | undefined;
  #upper: Literal | undefined;

  constructor(type: IcebergType) {
    this.#type = type;
  }

  add(value: Literal | null): void {
    if (value === null) {
      this.#containsNull = true;
    } else if (Number.isNaN(value)) {
      this.#containsNan = true;
    } else {
      if (this.#lower === undefined || (compareLiterals(value, this.#lower) ?? 0) < 0) this.#lower = value;
      if (this.#upper === undefined || (compareLiterals(value, this.#upper) ?? 0) > 0) this.#upper = value;
    }
  }

  end(): PartitionSummary {
    const encode = (value: Literal | undefined): Uint8Array | undefined =>
      value === undefined ? undefined : encodeBound(this.#type, value);
    return {
      containsNull: this.#containsNull,
      containsNan: this.#containsNan,
      lower: encode(this.#lower),
      upper: encode(this.#upper),
    };
  }
}
