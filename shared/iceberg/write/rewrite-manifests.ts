import type { FileReader } from '#shared/storage/storage.ts';
import { must } from '#shared/must.ts';
import { keyBounds, locationKey } from '#shared/storage/location.ts';
import { requireWithin } from '../allowed-roots.ts';
import { compareCodePoints } from '../compare-literals.ts';
import { limitsApart, type DecodeLimits } from '../decode-limits.ts';
import { FILE_PATH_ID } from '../delete-index.ts';
import { LruManifestCache } from '../manifest-cache.ts';
import { columnStats, type DataFile, type ManifestEntry, type ManifestFile } from '../manifest.ts';
import type { PlanTable } from '../planning.ts';
import { readManifest } from '../read-manifest.ts';
import { snapshotManifests } from '../snapshot-manifests.ts';
import { specById } from '../table-metadata.ts';
import { RemovedCounter, type RemovedOfSnapshot } from './snapshot-summary.ts';
import { encodeParents, type EncodedManifest, type ManifestTarget } from './write-manifest.ts';

/** A snapshot whose manifests a commit reads. Plain values, so that it can be sent to a thread. */
export type ListRequest = {
  readonly table: PlanTable;
  readonly snapshotId: bigint;
  readonly allowedRoots: readonly string[];
};

/** Manifests of one spec whose live entries are to be written into one: as files that stay, or that the new snapshot removes. */
export type RewriteRequest = {
  readonly table: Pick<PlanTable, 'location' | 'fields' | 'specs'>;
  readonly allowedRoots: readonly string[];
  readonly manifests: readonly ManifestFile[];
  /** `counted`: nothing is written. */
  readonly status: 'existing' | 'deleted' | 'counted';
  readonly target: ManifestTarget;
};

/** Manifests of one spec and content, of which some files go. */
export type RemoveRequest = Omit<RewriteRequest, 'status'> & {
  /** The files that go, by `fileKey`. */
  readonly removed: ReadonlySet<string>;
};

/** A manifest without the files that go, which it lists as deleted. A manifest that has none of them has no removal. */
export type Removal = {
  readonly path: string;
  readonly encoded: EncodedManifest;
  readonly found: readonly string[];
  readonly files: RemovedOfSnapshot;
};

/** Manifests of one spec, in which files are looked for, and such that came after a snapshot. */
export type SearchRequest = Omit<RewriteRequest, 'status' | 'target'> & {
  readonly afterSequenceNumber: bigint;
  /** Paths of data files. */
  readonly dataFiles: ReadonlySet<string>;
};

export type FoundFiles = {
  /** Those of the files that are there. */
  readonly files: readonly Pick<DataFile, 'path' | 'specId' | 'partition'>[];
  /** Path of a file whose rows came after the sequence number; null = there is none. */
  readonly newer: string | null;
};

export type Rewritten = {
  /** Null when there is no live entry, or nothing is written. */
  readonly encoded: EncodedManifest | null;
  /** The live entries. */
  readonly files: RemovedOfSnapshot;
};

/**
 * Reads the manifests of a table that a commit changes. Whoever may write the table has written them, so they are read where they cannot
 * hold up others. @throws INVALID_TABLE_DATA, TABLE_DATA_TOO_COMPLEX, STORAGE_ERROR
 */
export interface ManifestReader {
  list(request: ListRequest): Promise<readonly ManifestFile[]>;
  rewrite(request: RewriteRequest): Promise<Rewritten>;
  remove(request: RemoveRequest): Promise<readonly Removal[]>;
  /** Path of a newer delete file that may delete rows of the data files by their positions; null = there is none. */
  newDeletes(request: SearchRequest): Promise<string | null>;
  find(request: SearchRequest): Promise<FoundFiles>;
}

/** A key that tells a file of a snapshot from all others: the deletion vectors of one Puffin file differ in their offset. */
export const fileKey = ({ path, contentOffset }: Pick<DataFile, 'path' | 'contentOffset'>): string =>
  contentOffset === undefined ? path : `${path}\0${contentOffset}`;

/** Writes the live entries of manifests into one. @throws as `readManifest`; INVALID_TABLE_DATA for one outside of the allowed roots */
export async function rewriteManifests(
  io: FileReader,
  { table, allowedRoots, manifests, status, target }: RewriteRequest,
  limits: DecodeLimits,
): Promise<Rewritten> {
  const check = requireWithin(allowedRoots);
  const counter = new RemovedCounter();
  async function* counted(): AsyncGenerator<ManifestEntry> {
    for (const manifest of manifests) {
      check(manifest.path);
      for await (const entry of liveEntries(io, table, manifest, limits)) {
        counter.add(entry.file);
        yield entry;
      }
    }
  }
  let encoded: EncodedManifest | undefined;
  if (status !== 'counted') encoded = await encodeParents(target, parentsOf(table), () => status, counted());
  else for await (const _entry of counted());
  return { encoded: encoded ?? null, files: counter.files };
}

/** Writes those of the manifests anew that have a file which goes. @throws as `rewriteManifests` */
export async function removeFromManifests(
  io: FileReader,
  { table, allowedRoots, manifests, removed, target }: RemoveRequest,
  limits: DecodeLimits,
): Promise<readonly Removal[]> {
  const check = requireWithin(allowedRoots);
  const made: Removal[] = [];
  for (const manifest of manifests) {
    const { path, content } = manifest;
    check(path);
    const found: string[] = [];
    const counter = new RemovedCounter();
    for await (const { file } of liveEntries(io, table, manifest, limits)) {
      const key = fileKey(file);
      if (!removed.has(key)) continue;
      found.push(key);
      counter.add(file);
    }
    if (found.length === 0) continue;
    const parents = { ...parentsOf(table), content };
    const statusOf = ({ file }: ManifestEntry) => (removed.has(fileKey(file)) ? 'deleted' : 'existing');
    const encoded = await encodeParents(target, parents, statusOf, liveEntries(io, table, manifest, limits));
    made.push({ path, encoded: must(encoded, 'it has a file'), found, files: counter.files });
  }
  return made;
}

/** See `ManifestReader.newDeletes`. @throws as `rewriteManifests` */
export async function findNewDeletes(
  io: FileReader,
  { table, allowedRoots, manifests, afterSequenceNumber, dataFiles }: SearchRequest,
  limits: DecodeLimits,
): Promise<string | null> {
  const check = requireWithin(allowedRoots);
  const keys = [...dataFiles].map(locationKey).sort(compareCodePoints);
  const named = new Set(keys);
  for (const manifest of manifests) {
    check(manifest.path);
    for await (const { sequenceNumber, file } of liveEntries(io, table, manifest, limits)) {
      if (sequenceNumber <= afterSequenceNumber || file.content !== 'position-deletes') continue;
      if (mayDelete(file, named, keys)) return file.path;
    }
  }
  return null;
}

/** See `ManifestReader.find`. @throws as `rewriteManifests` */
export async function findFiles(
  io: FileReader,
  { table, allowedRoots, manifests, afterSequenceNumber, dataFiles }: SearchRequest,
  limits: DecodeLimits,
): Promise<FoundFiles> {
  const check = requireWithin(allowedRoots);
  const files: FoundFiles['files'][number][] = [];
  let newer: string | null = null;
  for (const manifest of manifests) {
    check(manifest.path);
    for await (const { sequenceNumber, file } of liveEntries(io, table, manifest, limits)) {
      const { path, specId, partition } = file;
      if (dataFiles.has(path)) files.push({ path, specId, partition });
      if (sequenceNumber > afterSequenceNumber) newer ??= path;
    }
  }
  return { files, newer };
}

/** Whether a position delete file may name one of the data files, whose keys are given as a set and in their order. */
function mayDelete(file: DataFile, named: ReadonlySet<string>, keys: readonly string[]): boolean {
  if (file.referencedDataFile !== undefined) return named.has(locationKey(file.referencedDataFile));
  const { lower, upper } = columnStats(file.stats, FILE_PATH_ID, { kind: 'string' });
  const bounds = typeof lower === 'string' && typeof upper === 'string' ? keyBounds(lower, upper) : undefined;
  if (bounds === undefined) return true;
  const first = keys.find((key) => compareCodePoints(key, bounds.lower) >= 0);
  return first !== undefined && compareCodePoints(first, bounds.upper) <= 0;
}

async function* liveEntries(
  io: FileReader,
  { specs, fields }: RewriteRequest['table'],
  manifest: ManifestFile,
  limits: DecodeLimits,
): AsyncGenerator<ManifestEntry, void> {
  const spec = specById({ specs }, manifest.specId);
  for await (const { entries } of readManifest(io, manifest, spec, (id) => fields.get(id)?.type, limits)) {
    for (const entry of entries) if (entry.status !== 'deleted') yield entry;
  }
}

const parentsOf = ({ fields }: RewriteRequest['table']) => ({ fields: [...fields.values()], content: 'data' as const });

/** Memory limit for reading one file. */
const FILE_BYTES = 256 * 2 ** 20;

/** Reads in this thread, for a process that serves nobody else. */
export function ownManifestReader(io: FileReader): ManifestReader {
  const manifestCache = new LruManifestCache(FILE_BYTES);
  return {
    list: ({ table, snapshotId, allowedRoots }) =>
      snapshotManifests(io, table, snapshotId, { manifestCache, allowedRoots, limits: limitsApart(FILE_BYTES) }),
    rewrite: (request) => rewriteManifests(io, request, limitsApart(FILE_BYTES)),
    remove: (request) => removeFromManifests(io, request, limitsApart(FILE_BYTES)),
    newDeletes: (request) => findNewDeletes(io, request, limitsApart(FILE_BYTES)),
    find: (request) => findFiles(io, request, limitsApart(FILE_BYTES)),
  };
}
