import { setImmediate } from 'node:timers/promises';
import { printJson } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { AvroFile, toBuffer } from '../avro/write-container.ts';
import { bytesOfInteger } from '../big-endian.ts';
import { compareLiterals } from '../compare-literals.ts';
import type { ManifestFile, PartitionSummary } from '../manifest.ts';
import { printPartitionFields, type PartitionSpec } from '../partition-spec.ts';
import type { Literal } from '../predicate.ts';
import { printSchema, type Schema } from '../schema.ts';
import { encodeBound } from '../single-value.ts';
import { resultType } from '../transform.ts';
import { invalid, walkFields, type IcebergType } from '../type.ts';
import type { NewDataFile } from './data-file.ts';
import { decimalBytes, manifestSchema, type WrittenVersion } from './manifest-schema.ts';

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

/** Number of rows that are encoded before the event loop has a turn: less than 10 ms for files of a hundred columns. */
const ROWS_PER_TURN = 100;

/**
 * Encodes manifests of data files that a snapshot adds, each of about `targetBytes`; none when there are no files. Sequence numbers and row
 * ids are left to inheritance, so the manifests stay valid when the commit is tried again on top of another one.
 */
export async function* encodeManifests(
  target: ManifestTarget,
  files: readonly NewDataFile[],
  targetBytes: number,
): AsyncGenerator<EncodedManifest, undefined> {
  for (let start = 0; start < files.length;) {
    const encoder = new ManifestEncoder(target);
    let end = start;
    while (end < files.length && encoder.sizeBytes < targetBytes) {
      encoder.add(must(files[end], 'below the length'));
      end += 1;
      if (end % ROWS_PER_TURN === 0) await setImmediate();
    }
    yield encoder.end();
    start = end;
  }
}

/** Encodes one manifest, with an entry of status "added" for each file. */
export class ManifestEncoder {
  readonly #target: ManifestTarget;
  readonly #types: readonly IcebergType[];
  readonly #names: readonly string[];
  readonly #summaries: readonly SummaryBuilder[];
  readonly #file: AvroFile;
  #files = 0;
  #rows = 0;

  constructor(target: ManifestTarget) {
    const { schema, spec, formatVersion } = target;
    this.#target = target;
    this.#types = partitionTypes(schema, spec);
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
      content: 'data',
    });
  }

  /** Bytes so far; the last rows may not be compressed yet. */
  get sizeBytes(): number {
    return this.#file.sizeBytes;
  }

  add(file: NewDataFile): void {
    this.#files += 1;
    this.#rows += file.recordCount;
    for (const [index, summary] of this.#summaries.entries()) summary.add(file.partition[index] ?? null);
    this.#file.add({
      status: 1,
      snapshot_id: this.#target.snapshotId,
      sequence_number: null,
      file_sequence_number: null,
      data_file: { ...toRow(file, this.#partitionRow(file)), first_row_id: null },
    });
  }

  end(): EncodedManifest {
    const entry = {
      specId: this.#target.spec.specId,
      content: 'data' as const,
      sequenceNumber: 0n,
      minSequenceNumber: 0n,
      addedSnapshotId: this.#target.snapshotId,
      addedFiles: this.#files,
      existingFiles: 0,
      deletedFiles: 0,
      addedRows: this.#rows,
      existingRows: 0,
      deletedRows: 0,
      partitions: this.#summaries.map((summary) => summary.end()),
      firstRowId: undefined,
    };
    return { bytes: this.#file.end(), entry };
  }

  /** Returns the partition values under their names in the Avro schema. */
  #partitionRow({ partition }: NewDataFile): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      this.#names.map((name, index) => {
        const type = must(this.#types[index], 'one type per field');
        return [name, partitionValue(type, partition[index] ?? null)];
      }),
    );
  }
}

/** Returns the types of a spec's partition values. @throws INVALID_TABLE_DATA when one is unknown */
export function partitionTypes(schema: Schema, spec: PartitionSpec): readonly IcebergType[] {
  const byId = new Map([...walkFields(schema.fields)].map((field) => [field.id, field.type]));
  return spec.fields.map((field) => {
    const source = byId.get(field.sourceId);
    const type = source === undefined ? undefined : resultType(field.transform, source);
    if (type === undefined) throw invalid(`partition field ${field.name} has an unknown transform or column`);
    return type;
  });
}

function partitionNames(schema: ReturnType<typeof manifestSchema>): readonly string[] {
  type Named = { readonly name: string; readonly type: { readonly fields?: readonly Named[] } };
  const entry = schema['fields'] as unknown as readonly Named[];
  const file = entry.find(({ name }) => name === 'data_file')?.type.fields;
  const partition = file?.find(({ name }) => name === 'partition')?.type.fields;
  return must(partition, 'a manifest has a partition').map(({ name }) => name);
}

function partitionValue(type: IcebergType, value: Literal | null): unknown {
  if (value === null) return null;
  if (type.kind === 'decimal') return Buffer.from(bytesOfInteger(value as bigint, decimalBytes(type.precision)));
  if (value instanceof Uint8Array) return Buffer.from(value);
  return (type.kind === 'int' || type.kind === 'date') && typeof value === 'bigint' ? Number(value) : value;
}

const toRow = (file: NewDataFile, partition: Readonly<Record<string, unknown>>): object => ({
  content: 0,
  file_path: file.path,
  file_format: 'PARQUET',
  partition,
  record_count: file.recordCount,
  file_size_in_bytes: file.sizeBytes,
  column_sizes: pairs(file.columnSizes),
  value_counts: pairs(file.valueCounts),
  null_value_counts: pairs(file.nullCounts),
  nan_value_counts: pairs(file.nanCounts),
  lower_bounds: pairs(file.lower, toBuffer),
  upper_bounds: pairs(file.upper, toBuffer),
  key_metadata: null,
  split_offsets: file.splitOffsets,
  equality_ids: null,
  sort_order_id: 0,
});

const pairs = <T>(map: ReadonlyMap<number, T>, change: (value: T) => unknown = (value) => value): readonly object[] =>
  [...map].map(([key, value]) => ({ key, value: change(value) }));

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
