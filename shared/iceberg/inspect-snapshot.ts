import { printJson, type Json, type JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { requireWithin } from './allowed-roots.ts';
import { compareLiterals } from './compare-literals.ts';
import { tooComplex } from './decode-limits.ts';
import { columnStats, statsSteps, type DataFile, type ManifestEntry, type ManifestFile } from './manifest.ts';
import type { PartitionSpec } from './partition-spec.ts';
import type { Literal } from './predicate.ts';
import { readManifest } from './read-manifest.ts';
import type { ReadingPlace, ScanRequest } from './scan-request.ts';
import { decodeBound, literalToJson } from './single-value.ts';
import { snapshotManifests } from './snapshot-manifests.ts';
import { specById } from './table-metadata.ts';
import { resultType } from './transform.ts';
import type { Field, IcebergType } from './type.ts';

/** Metadata tables that are made of a snapshot's manifests. */
export type InspectedTable = 'manifests' | 'files' | 'entries' | 'partitions';

/** The rows of a metadata table that are wanted: plain values, so that it can be sent to a thread. */
export type InspectRequest = Pick<ScanRequest, 'tenant' | 'table' | 'snapshotId' | 'allowedRoots' | 'credential'> & {
  readonly what: InspectedTable;
  /** The columns of a row, in this order. */
  readonly columns: readonly string[];
  /** Columns of the table that have statistics. */
  readonly fields: readonly Field[];
};

/** A row, its values as text; nested ones are JSON. */
export type InspectedRow = readonly (string | null)[];

/** Steps to make a row, without the statistics of its file. */
const ROW_STEPS = 100;
/** Partitions of one snapshot, each of which is held until all files have been read. */
const PARTITIONS_MAX = 100_000;
const CONTENTS = ['data', 'position-deletes', 'equality-deletes'] as const;
const STATUSES = ['existing', 'added', 'deleted'] as const;

/** Reads the manifests of a snapshot, and gives a row for each manifest, file, entry or partition. @throws as `planFiles` does */
export async function inspectSnapshot(
  place: ReadingPlace,
  request: InspectRequest,
  sink: (row: InspectedRow) => void,
): Promise<void> {
  const { what } = request;
  const { limits } = place;
  const maker = new RowMaker(request);
  for (const manifest of await manifestsOf(place, request, request.snapshotId)) {
    if (what === 'manifests') {
      limits.steps.spend(ROW_STEPS);
      sink(maker.row(maker.ofManifest(manifest)));
      continue;
    }
    for await (const entry of entriesOf(place, request, manifest)) {
      if (what !== 'entries' && entry.status === 'deleted') continue;
      limits.steps.spend(ROW_STEPS + request.fields.length * statsSteps(entry.file.stats));
      if (what === 'partitions') maker.addToPartition(entry.file);
      else sink(maker.row(what === 'files' ? maker.ofFile(entry.file) : maker.ofEntry(entry)));
    }
  }
  for (const row of maker.partitions()) sink(maker.row(row));
}

/** A table whose manifests are read. */
export type InspectedFiles = Pick<ScanRequest, 'tenant' | 'table' | 'allowedRoots' | 'credential'>;

/** The manifests of one of its snapshots. */
export const manifestsOf = (
  { io, manifestCaches, limits }: ReadingPlace,
  { tenant, table, allowedRoots }: InspectedFiles,
  snapshotId: bigint,
): Promise<readonly ManifestFile[]> =>
  snapshotManifests(io, table, snapshotId, { manifestCache: manifestCaches.of(tenant), allowedRoots, limits });

/** The entries of a manifest, also those of files that are gone. */
export async function* entriesOf(
  { io, limits, signal }: ReadingPlace,
  { table, allowedRoots }: InspectedFiles,
  manifest: ManifestFile,
): AsyncGenerator<ManifestEntry> {
  requireWithin(allowedRoots)(manifest.path);
  const typeOf = (fieldId: number): IcebergType | undefined => table.fields.get(fieldId)?.type;
  for await (const { entries } of readManifest(io, manifest, specById(table, manifest.specId), typeOf, limits)) {
    signal?.throwIfAborted();
    yield* entries;
  }
}

type Values = Readonly<Record<string, () => Json | undefined>>;
type Partition = { readonly key: Json; records: number; files: number; bytes: number; readonly columns: ColumnSum[] };
type ColumnSum = { min: Literal | null; max: Literal | null; nulls: number | null; nans: number | null };

class RowMaker {
  readonly #request: InspectRequest;
  readonly #partitions = new Map<string, Partition>();

  constructor(request: InspectRequest) {
    this.#request = request;
  }

  /** The wanted columns; only these are made. */
  row(values: Values): InspectedRow {
    return this.#request.columns.map((name) => {
      const value = must(values[name], 'a column of the metadata table')();
      if (value === undefined || value === null) return null;
      return typeof value === 'object' ? printJson(value) : String(value);
    });
  }

  ofManifest(manifest: ManifestFile): Values {
    const { addedFiles, existingFiles, deletedFiles, addedRows, existingRows, deletedRows } = manifest;
    const isData = manifest.content === 'data';
    return {
      content: () => (isData ? 0 : 1),
      path: () => manifest.path,
      length: () => manifest.lengthBytes,
      partition_spec_id: () => manifest.specId,
      added_snapshot_id: () => manifest.addedSnapshotId,
      added_data_files_count: () => addedFiles,
      added_rows_count: () => addedRows,
      existing_data_files_count: () => existingFiles,
      existing_rows_count: () => existingRows,
      deleted_data_files_count: () => deletedFiles,
      deleted_rows_count: () => deletedRows,
      partition_summaries: () => this.#summaries(manifest),
    };
  }

  ofFile(file: DataFile): Values {
    const { stats, splitOffsets, equalityIds } = file;
    const perField = (value: (fieldId: number) => Json | undefined) => (): JsonObject =>
      Object.fromEntries(
        this.#request.fields.flatMap(({ id }) => {
          const found = value(id);
          return found === undefined ? [] : [[String(id), found] as const];
        }),
      );
    const bound = (side: 'lower' | 'upper') => (id: number) => this.#bounds(file, id)[side];
    return {
      content: () => CONTENTS.indexOf(file.content),
      file_path: () => file.path,
      record_count: () => file.recordCount,
      file_format: () => file.format.toUpperCase(),
      file_size_in_bytes: () => file.sizeBytes,
      column_sizes: perField((id) => count(stats.columnSizes?.find(id))),
      value_counts: perField((id) => count(stats.valueCounts?.find(id))),
      null_value_counts: perField((id) => count(stats.nullCounts?.find(id))),
      nan_value_counts: perField((id) => count(stats.nanCounts?.find(id))),
      lower_bounds: perField(bound('lower')),
      upper_bounds: perField(bound('upper')),
      key_metadata: () => null,
      split_offsets: () => splitOffsets,
      equality_ids: () => equalityIds,
      sort_order_id: () => file.sortOrderId,
      spec_id: () => file.specId,
      partition: () => this.#partitionOf(file),
      readable_metrics: () => this.#metrics(file),
    };
  }

  ofEntry(entry: ManifestEntry): Values {
    const { partition: _partition, readable_metrics: _metrics, ...file } = this.ofFile(entry.file);
    return {
      status: () => STATUSES.indexOf(entry.status),
      snapshot_id: () => entry.snapshotId,
      sequence_number: () => entry.sequenceNumber,
      file_sequence_number: () => entry.fileSequenceNumber,
      data_file: () => Object.fromEntries(Object.entries(file).map(([name, value]) => [name, value() ?? null])),
      readable_metrics: () => this.#metrics(entry.file),
    };
  }

  addToPartition(file: DataFile): void {
    if (file.content !== 'data') return;
    const key = this.#partitionOf(file);
    const text = printJson(key);
    const columns = this.#request.fields.map(({ id, type }): ColumnSum => {
      const stats = columnStats(file.stats, id, type);
      const { lower, upper, nullCount, nanCount } = stats;
      return { min: lower ?? null, max: upper ?? null, nulls: nullCount ?? null, nans: nanCount ?? null };
    });
    const sum = { key, records: file.recordCount, files: 1, bytes: file.sizeBytes, columns };
    const known = this.#partitions.get(text);
    if (known === undefined) {
      if (this.#partitions.size >= PARTITIONS_MAX) throw tooComplex(`more than ${PARTITIONS_MAX} partitions`);
      this.#partitions.set(text, sum);
      return;
    }
    known.records += sum.records;
    known.files += 1;
    known.bytes += sum.bytes;
    for (const [i, column] of columns.entries()) merge(must(known.columns[i], 'one sum per column'), column);
  }

  *partitions(): Generator<Values> {
    for (const { key, records, files, bytes, columns } of this.#partitions.values()) {
      yield {
        partition: () => key,
        record_count: () => records,
        file_count: () => files,
        total_size: () => bytes,
        data: () =>
          Object.fromEntries(
            this.#request.fields.map(({ name, type }, i) => {
              const { min, max, nulls, nans } = must(columns[i], 'one sum per column');
              return [name, { min: json(type, min), max: json(type, max), null_count: nulls, nan_count: nans }];
            }),
          ),
      };
    }
  }

  #bounds(file: DataFile, fieldId: number): { readonly lower?: string; readonly upper?: string } {
    const type = this.#request.table.fields.get(fieldId)?.type;
    if (type === undefined) return {};
    const { lower, upper } = columnStats(file.stats, fieldId, type);
    return {
      ...(lower === undefined ? {} : { lower: textOf(type, lower) }),
      ...(upper === undefined ? {} : { upper: textOf(type, upper) }),
    };
  }

  #metrics(file: DataFile): JsonObject {
    const { stats } = file;
    return Object.fromEntries(
      this.#request.fields.map(({ id, name }) => {
        const { lower = null, upper = null } = this.#bounds(file, id);
        const metrics = {
          column_size: count(stats.columnSizes?.find(id)) ?? null,
          value_count: count(stats.valueCounts?.find(id)) ?? null,
          null_value_count: count(stats.nullCounts?.find(id)) ?? null,
          nan_value_count: count(stats.nanCounts?.find(id)) ?? null,
          lower_bound: lower,
          upper_bound: upper,
        };
        return [name, metrics];
      }),
    );
  }

  /** The partition's values by the names `p<field id>`, because names of fields may be any text. */
  #partitionOf({ specId, partition }: DataFile): JsonObject {
    const { spec, types } = this.#partitioning(specId);
    return Object.fromEntries(
      spec.fields.map(({ fieldId }, i) => [`p${fieldId}`, json(types[i], partition[i] ?? null)]),
    );
  }

  #summaries({ specId, partitions }: ManifestFile): Json | undefined {
    const { types } = this.#partitioning(specId);
    return partitions?.map(({ containsNull, containsNan, lower, upper }, i) => ({
      contains_null: containsNull,
      contains_nan: containsNan ?? null,
      lower_bound: this.#summaryBound(types[i], lower),
      upper_bound: this.#summaryBound(types[i], upper),
    }));
  }

  #summaryBound(type: IcebergType | undefined, bytes: Uint8Array | undefined): string | null {
    if (type === undefined || bytes === undefined) return null;
    const value = decodeBound(type, bytes);
    return value === undefined ? null : textOf(type, value);
  }

  #partitioning(specId: number): {
    readonly spec: PartitionSpec;
    readonly types: readonly (IcebergType | undefined)[];
  } {
    const { table } = this.#request;
    const spec = specById(table, specId);
    const types = spec.fields.map(({ transform, sourceId }) => {
      const source = table.fields.get(sourceId)?.type;
      return source === undefined ? undefined : resultType(transform, source);
    });
    return { spec, types };
  }
}

const count = (value: unknown): number | undefined => (typeof value === 'number' && value >= 0 ? value : undefined);

/** A value as DuckDB casts it from JSON: bytes as `\xAB` each. */
function json(type: IcebergType | undefined, value: Literal | null): Json {
  if (value === null || type === undefined) return null;
  if (type.kind !== 'binary' && type.kind !== 'fixed') return literalToJson(type, value);
  return textOf(type, value).replaceAll(/../g, (byte) => `\\x${byte}`);
}

export function textOf(type: IcebergType, value: Literal): string {
  const printed = literalToJson(type, value);
  return typeof printed === 'string' ? printed : printJson(printed);
}

/** Adds the statistics of a file; what one file does not say is unknown of all. */
function merge(sum: ColumnSum, file: ColumnSum): void {
  sum.min = extreme(sum.min, file.min, -1);
  sum.max = extreme(sum.max, file.max, 1);
  sum.nulls = sum.nulls === null || file.nulls === null ? null : sum.nulls + file.nulls;
  sum.nans = sum.nans === null || file.nans === null ? null : sum.nans + file.nans;
}

function extreme(a: Literal | null, b: Literal | null, sign: -1 | 1): Literal | null {
  if (a === null || b === null) return null;
  const order = compareLiterals(a, b);
  return order === undefined ? null : order * sign >= 0 ? a : b;
}
