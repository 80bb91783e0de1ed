import { tooComplex } from './decode-limits.ts';
import { entriesOf, manifestsOf, type InspectedFiles } from './inspect-snapshot.ts';
import type { DataFile, ManifestFile } from './manifest.ts';
import type { ReadingPlace } from './scan-request.ts';
import {
  addTo,
  isTooMuch,
  nothing,
  PARTITIONS_LISTED,
  unifiedPartitions,
  valuesOf,
  type UnifiedPartitions,
  type Sum,
} from './sum-files.ts';

/** Two snapshots of a table whose files are compared. */
export type ChangesRequest = InspectedFiles & {
  readonly from: bigint;
  readonly to: bigint;
  /** Memory of what is held of the files that are in one of them. */
  readonly bytesMax: number;
};

/** The files that only one of two snapshots has. */
export type FileChanges = {
  readonly added: Sum;
  readonly removed: Sum;
  readonly addedDeletes: Sum;
  readonly removedDeletes: Sum;
  readonly partitionFields: readonly string[];
  /** Those that have changed most, by bytes. */
  readonly partitions: readonly PartitionChange[];
  /** Changed partitions that are not listed. */
  readonly otherPartitions: number;
};

type PartitionChange = {
  readonly values: readonly (string | null)[];
  readonly added: Sum;
  readonly removed: Sum;
};

/** Steps to look at a file. */
const FILE_STEPS = 100;
/** Memory of a file that is held, beside its path. */
const FILE_BYTES = 400;

type Held = Pick<DataFile, 'content' | 'recordCount' | 'sizeBytes' | 'contentSizeBytes'> & {
  readonly partition: string;
};

/**
 * Compares the files of two snapshots. A manifest that both have is not read.
 * @param apart as `sumFiles`: null is the answer when it is too much
 */
export async function sumChanges(
  place: ReadingPlace,
  request: ChangesRequest,
  apart: boolean,
): Promise<FileChanges | null> {
  try {
    const [before, after] = [
      await manifestsOf(place, request, request.from),
      await manifestsOf(place, request, request.to),
    ];
    const held = new FilesOfOne(unifiedPartitions(request.table), request.bytesMax);
    for await (const file of filesOf(place, request, without(before, after))) held.add(file);
    const removed = held.files;
    const added = new FilesOfOne(held.names, request.bytesMax - held.bytes);
    for await (const file of filesOf(place, request, without(after, before))) {
      if (!removed.delete(keyOf(file))) added.add(file);
    }
    return summed(held.names.names, removed.values(), added.files.values());
  } catch (error) {
    if (!apart || !isTooMuch(error)) throw error;
    return null;
  }
}

const without = (manifests: readonly ManifestFile[], others: readonly ManifestFile[]): readonly ManifestFile[] => {
  const known = new Set(others.map(({ path }) => path));
  return manifests.filter(({ path }) => !known.has(path));
};

/** A file, or a deletion vector in one. */
const keyOf = ({ path, contentOffset }: DataFile): string => `${contentOffset ?? ''} ${path}`;

async function* filesOf(
  place: ReadingPlace,
  request: ChangesRequest,
  manifests: readonly ManifestFile[],
): AsyncGenerator<DataFile> {
  for (const manifest of manifests) {
    for await (const { status, file } of entriesOf(place, request, manifest)) {
      if (status === 'deleted') continue;
      place.limits.steps.spend(FILE_STEPS);
      yield file;
    }
  }
}

class FilesOfOne {
  readonly files = new Map<string, Held>();
  readonly names: UnifiedPartitions;
  readonly #bytesMax: number;
  bytes = 0;

  constructor(names: UnifiedPartitions, bytesMax: number) {
    this.names = names;
    this.#bytesMax = bytesMax;
  }

  add(file: DataFile): void {
    const { content, recordCount, sizeBytes, contentSizeBytes } = file;
    const [key, partition] = [keyOf(file), this.names.keyOf(file)];
    this.bytes += FILE_BYTES + 2 * (key.length + partition.length);
    if (this.bytes > this.#bytesMax) throw tooComplex('the files that differ take more memory than sums may');
    this.files.set(key, { content, recordCount, sizeBytes, contentSizeBytes, partition });
  }
}

const DELETES = { added: 'addedDeletes', removed: 'removedDeletes' } as const;

function summed(names: readonly string[], removed: Iterable<Held>, added: Iterable<Held>): FileChanges {
  const sums = { added: nothing(), removed: nothing(), addedDeletes: nothing(), removedDeletes: nothing() };
  const partitions = new Map<
    string,
    { readonly added: ReturnType<typeof nothing>; readonly removed: ReturnType<typeof nothing> }
  >();
  const take = (files: Iterable<Held>, side: 'added' | 'removed'): void => {
    for (const file of files) {
      addTo(sums[file.content === 'data' ? side : DELETES[side]], file);
      if (file.content !== 'data') continue;
      const partition = partitions.get(file.partition) ?? { added: nothing(), removed: nothing() };
      partitions.set(file.partition, partition);
      addTo(partition[side], file);
    }
  };
  take(removed, 'removed');
  take(added, 'added');
  const changed = ({ added: more, removed: less }: Omit<PartitionChange, 'values'>): number => more.bytes + less.bytes;
  const all = [...partitions].toSorted(([, a], [, b]) => changed(b) - changed(a));
  return {
    ...sums,
    partitionFields: names,
    partitions: all.slice(0, PARTITIONS_LISTED).map(([key, sum]) => ({ values: valuesOf(key), ...sum })),
    otherPartitions: Math.max(0, all.length - PARTITIONS_LISTED),
  };
}
