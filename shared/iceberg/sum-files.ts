import { tooComplex } from './decode-limits.ts';
import { SkeinError } from '#shared/error.ts';
import { partitionFields } from './address-columns.ts';
import { entriesOf, manifestsOf, textOf, type InspectedFiles } from './inspect-snapshot.ts';
import type { DataFile, ManifestFile } from './manifest.ts';
import type { PlanTable } from './planning.ts';
import type { ReadingPlace } from './scan-request.ts';
import { specById } from './table-metadata.ts';
import type { Transform } from './transform.ts';

/** Files, and what they hold together. */
export type Sum = { readonly files: number; readonly rows: number; readonly bytes: number };

/** The files of a snapshot that are summed: plain values, so that they can be sent to a thread. */
export type SumRequest = InspectedFiles & {
  readonly snapshotId: bigint;
  /** Memory of the sums by partition. */
  readonly bytesMax: number;
};

/** Upper ends of the sizes by which data files are counted; a last class has all that are larger. */
export const SIZE_ENDS: readonly number[] = [64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576].map(
  (kib) => kib * 1_024,
);
/** Partitions that are listed, the largest first; the others are one sum. */
export const PARTITIONS_LISTED = 1_000;

/** The sums of a snapshot's files. */
export type FileSums = {
  /** Whether all of its files were read; if not, these are the sums of those that were. */
  readonly isWhole: boolean;
  readonly data: Sum;
  readonly positionDeletes: Sum;
  readonly equalityDeletes: Sum;
  readonly deletionVectors: Sum;
  /** Data files by size, a class more than `SIZE_ENDS`. */
  readonly sizes: readonly Sum[];
  readonly dataManifests: ManifestSum;
  readonly deleteManifests: ManifestSum;
  /** Names of the fields of all partition specs. */
  readonly partitionFields: readonly string[];
  readonly partitions: readonly PartitionSum[];
  /** The partitions that are not listed. */
  readonly others: Sum & { readonly partitions: number };
};

type ManifestSum = { readonly manifests: number; readonly bytes: number };

type PartitionSum = Sum & {
  /** One text per field of `partitionFields`; null: no value. */
  readonly values: readonly (string | null)[];
  readonly deleteFiles: number;
};

/** Steps to add a file. */
const FILE_STEPS = 100;
/** Memory of a sum beside its key. */
const SUM_BYTES = 300;

type Counted = { files: number; rows: number; bytes: number };
type Counter = Counted & { deleteFiles: number };

/**
 * Sums the files of a snapshot.
 * @param apart a thread of its own does it, and there is none to which more could be left: what is too much ends the sums, and they say so
 * @throws as `inspectSnapshot`
 */
export async function sumFiles(place: ReadingPlace, request: SumRequest, apart: boolean): Promise<FileSums> {
  const sums = new FilesInAll(request);
  let isWhole = true;
  try {
    const manifests = await manifestsOf(place, request, request.snapshotId);
    for (const manifest of manifests) sums.addManifest(manifest);
    for (const manifest of manifests) {
      for await (const { status, file } of entriesOf(place, request, manifest)) {
        if (status === 'deleted') continue;
        place.limits.steps.spend(FILE_STEPS);
        sums.add(file);
      }
    }
  } catch (error) {
    if (!apart || !isTooMuch(error)) throw error;
    isWhole = false;
  }
  return sums.finish(isWhole);
}

export const isTooMuch = (error: unknown): boolean => SkeinError.of(error).code === 'TABLE_DATA_TOO_COMPLEX';

class FilesInAll {
  readonly #names: UnifiedPartitions;
  readonly #bytesMax: number;
  readonly #data = nothing();
  readonly #position = nothing();
  readonly #equality = nothing();
  readonly #vectors = nothing();
  readonly #sizes = [...SIZE_ENDS, Infinity].map(nothing);
  readonly #manifests = { data: { manifests: 0, bytes: 0 }, deletes: { manifests: 0, bytes: 0 } };
  readonly #partitions = new Map<string, Counter>();
  #bytes = 0;

  constructor({ table, bytesMax }: SumRequest) {
    this.#names = unifiedPartitions(table);
    this.#bytesMax = bytesMax;
  }

  addManifest({ content, lengthBytes }: ManifestFile): void {
    const sum = this.#manifests[content];
    sum.manifests += 1;
    sum.bytes += lengthBytes;
  }

  add(file: DataFile): void {
    const key = this.#names.keyOf(file);
    const partition = this.#partitions.get(key) ?? this.#newPartition(key);
    if (file.content !== 'data') {
      partition.deleteFiles += 1;
      addTo(file.content === 'equality-deletes' ? this.#equality : this.#deletes(file), file);
      return;
    }
    addTo(this.#data, file);
    addTo(partition, file);
    const size = this.#sizes[sizeClass(file.sizeBytes)];
    if (size !== undefined) addTo(size, file);
  }

  finish(isWhole: boolean): FileSums {
    const all = [...this.#partitions].toSorted(([, a], [, b]) => b.bytes - a.bytes || b.files - a.files);
    const others = { ...nothing(), partitions: 0 };
    for (const [, { files, rows, bytes }] of all.slice(PARTITIONS_LISTED)) {
      others.files += files;
      others.rows += rows;
      others.bytes += bytes;
      others.partitions += 1;
    }
    return {
      isWhole,
      data: this.#data,
      positionDeletes: this.#position,
      equalityDeletes: this.#equality,
      deletionVectors: this.#vectors,
      sizes: this.#sizes,
      dataManifests: this.#manifests.data,
      deleteManifests: this.#manifests.deletes,
      partitionFields: this.#names.names,
      partitions: all.slice(0, PARTITIONS_LISTED).map(([key, sum]) => ({ values: valuesOf(key), ...sum })),
      others,
    };
  }

  /** A deletion vector is a part of a file of many: its own bytes count. */
  readonly #deletes = ({ format }: DataFile): Counted => (format === 'puffin' ? this.#vectors : this.#position);

  #newPartition(key: string): Counter {
    this.#bytes += SUM_BYTES + 2 * key.length;
    if (this.#bytes > this.#bytesMax) throw tooComplex('its partitions take more memory than sums may');
    const sum = { ...nothing(), deleteFiles: 0 };
    this.#partitions.set(key, sum);
    return sum;
  }
}

export const nothing = (): Counted => ({ files: 0, rows: 0, bytes: 0 });

type Sized = Pick<DataFile, 'recordCount' | 'sizeBytes' | 'contentSizeBytes'>;

export function addTo(sum: Counted, { recordCount, sizeBytes, contentSizeBytes }: Sized): void {
  sum.files += 1;
  sum.rows += recordCount;
  sum.bytes += contentSizeBytes ?? sizeBytes;
}

const sizeClass = (bytes: number): number => {
  const found = SIZE_ENDS.findIndex((end) => bytes < end);
  return found === -1 ? SIZE_ENDS.length : found;
};

export type UnifiedPartitions = {
  readonly names: readonly string[];
  /** The values of a file's partition as one text, which `valuesOf` reads. */
  readonly keyOf: (file: Pick<DataFile, 'specId' | 'partition'>) => string;
};

/** How the partitions of a table are named, over all of its specs. */
export function unifiedPartitions(table: Pick<PlanTable, 'specs' | 'fields'>): UnifiedPartitions {
  const fields = partitionFields(table);
  const places = new Map(fields.map(({ id }, i) => [id, i]));
  return {
    names: fields.map(({ name }) => name),
    keyOf: ({ specId, partition }) => {
      const values = fields.map((): string | null => null);
      for (const [i, { fieldId, transform }] of specById(table, specId).fields.entries()) {
        const at = places.get(fieldId);
        const type = fields[at ?? -1]?.type;
        const value = partition[i] ?? null;
        if (at === undefined || type === undefined || value === null) continue;
        values[at] =
          typeof value === 'bigint' ? (printUnit(transform, value) ?? textOf(type, value)) : textOf(type, value);
      }
      return JSON.stringify(values);
    },
  };
}

export const valuesOf = (key: string): readonly (string | null)[] => JSON.parse(key) as readonly (string | null)[];

/** A year, month or hour, whose value is a number of units since 1970, as people write it; a day is a date already. */
function printUnit({ kind }: Transform, value: bigint): string | undefined {
  if (kind === 'year') return String(1970n + value);
  if (kind === 'month') {
    const year = 1970n + (value - mod(value, 12n)) / 12n;
    return `${year}-${two(mod(value, 12n) + 1n)}`;
  }
  if (kind !== 'hour') return undefined;
  const hour = mod(value, 24n);
  return `${textOf({ kind: 'date' }, (value - hour) / 24n)} ${two(hour)}h`;
}

const mod = (value: bigint, by: bigint): bigint => ((value % by) + by) % by;
const two = (value: bigint): string => String(value).padStart(2, '0');
