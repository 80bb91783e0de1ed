import type { DecodeLimits } from '#shared/iceberg/decode-limits.ts';
import { readManifestList, readManifestPaths } from '#shared/iceberg/read-manifest.ts';
import { parseJson } from '#shared/json.ts';
import type { FileReader } from '#shared/storage/storage.ts';
import type { TableDocument } from '../metadata/table-document.ts';

/** Reads the many paths that a table's files name, as one byte array that a thread can hand over without a copy. */

/** Paths, each followed by a NUL, which no path contains. */
export type PackedPaths = Uint8Array;

export type PathsInput = {
  readonly location: string;
  /** A manifest list names manifests, a manifest data and delete files. */
  readonly of: 'list' | 'manifest';
};

/** @throws INVALID_TABLE_DATA, NOT_SUPPORTED, TABLE_DATA_TOO_COMPLEX, STORAGE_ERROR */
export async function readPaths(
  io: FileReader,
  { location, of }: PathsInput,
  limits: DecodeLimits,
): Promise<PackedPaths> {
  const parts: string[] = [];
  if (of === 'list') {
    const { value } = await readManifestList(io, location, limits);
    parts.push(pack(value.map(({ path }) => path)));
  } else {
    for await (const paths of readManifestPaths(io, location, limits)) parts.push(pack(paths));
  }
  return new TextEncoder().encode(parts.join(''));
}

const pack = (paths: readonly string[]): string =>
  paths
    .filter((path) => !path.includes('\0'))
    .map((path) => `${path}\0`)
    .join('');

/** Number of paths per batch. */
const PATHS_AT_ONCE = 1_000;

export function* unpackPaths(packed: PackedPaths): Generator<readonly string[], void> {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  let paths: string[] = [];
  for (let start = 0, end = bytes.indexOf(0); end !== -1; start = end + 1, end = bytes.indexOf(0, start)) {
    paths.push(bytes.toString('utf8', start, end));
    if (paths.length < PATHS_AT_ONCE) continue;
    yield paths;
    paths = [];
  }
  yield paths;
}

/** The files that a table's metadata document names. */
export type Reached = {
  readonly lists: readonly string[];
  /** Manifests that the document names directly, as the oldest tables do. */
  readonly manifests: readonly string[];
  /** False when the data files belong to someone else. */
  readonly ownsData: boolean;
  readonly statistics: readonly string[];
  readonly earlierMetadata: readonly string[];
};

export function readReached(text: string): Reached {
  const metadata = parseJson(text) as unknown as TableDocument;
  return {
    lists: metadata.snapshots.flatMap((snapshot) => snapshot['manifest-list'] ?? []),
    manifests: metadata.snapshots.flatMap((snapshot) => snapshot.manifests ?? []),
    ownsData: metadata.properties['gc.enabled']?.toLowerCase() !== 'false',
    statistics: [...metadata.statistics, ...metadata['partition-statistics']].map((file) => file['statistics-path']),
    earlierMetadata: metadata['metadata-log'].map((entry) => entry['metadata-file']),
  };
}
