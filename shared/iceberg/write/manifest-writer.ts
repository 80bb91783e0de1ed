import type { Storage } from '#shared/storage/storage.ts';
import type { ManifestFile } from '../manifest.ts';
import type { FoundFiles, ManifestReader, Removal, RewriteRequest, SearchRequest } from './rewrite-manifests.ts';
import { specById } from '../table-metadata.ts';
import type { NewDataFile, NewDeleteFile } from './data-file.ts';
import { encodeDeletes, encodeManifests, type EncodedManifest, type ManifestTarget } from './write-manifest.ts';
import type { RemovedOfSnapshot } from './snapshot-summary.ts';
import { encodeManifestList, type SnapshotIds } from './write-manifest-list.ts';

/** Where and how the metadata files of one snapshot are written. */
export type ManifestPlace = ManifestTarget & {
  /** Folder of the table's metadata files. */
  readonly folder: string;
  /** Unique part of the names of this write's files. */
  readonly writeId: string;
  /** Size at which a manifest ends and the next one begins. */
  readonly targetBytes: number;
  /** The manifests that the table has. */
  readonly parents: Pick<RewriteRequest, 'table' | 'allowedRoots'> & {
    readonly reader: Pick<ManifestReader, 'rewrite' | 'remove' | 'newDeletes' | 'find'>;
  };
};

/** A manifest that was written in the place of the parent's manifest `source`. */
type Removed = Pick<Removal, 'found' | 'files'> & { readonly source: string; readonly manifest: ManifestFile };

/** Manifests that are read in one call. */
const MANIFESTS_AT_ONCE = 64;

type Group = [ManifestFile, ...ManifestFile[]];

/** Divides manifests into groups of one spec and one content. */
function alike(manifests: readonly ManifestFile[]): readonly Group[] {
  const groups: Group[] = [];
  const open = new Map<string, Group>();
  for (const manifest of manifests) {
    const key = `${manifest.specId} ${manifest.content}`;
    const group = open.get(key);
    if (group !== undefined && group.length < MANIFESTS_AT_ONCE) {
      group.push(manifest);
      continue;
    }
    const made: Group = [manifest];
    open.set(key, made);
    groups.push(made);
  }
  return groups;
}

/** Writes the manifests and manifest lists of one snapshot, and remembers the files that it wrote. */
export class ManifestWriter {
  readonly #storage: Storage;
  readonly #place: ManifestPlace;
  readonly #made: string[] = [];
  #manifests = 0;
  #lists = 0;

  constructor(storage: Storage, place: ManifestPlace) {
    this.#storage = storage;
    this.#place = place;
  }

  /** The snapshot whose files it writes. */
  get snapshotId(): bigint {
    return this.#place.snapshotId;
  }

  /** Paths of the files written so far. */
  get made(): readonly string[] {
    return this.#made;
  }

  /** Writes manifests of files that the snapshot adds; without a sequence number they get the snapshot's own. */
  async writeAdded(files: readonly NewDataFile[], sequenceNumber?: bigint): Promise<readonly ManifestFile[]> {
    const { targetBytes } = this.#place;
    const options = { targetBytes, ...(sequenceNumber === undefined ? {} : { sequenceNumber }) };
    const manifests: ManifestFile[] = [];
    for await (const encoded of encodeManifests(this.#place, files, options)) {
      manifests.push(await this.#writeManifest(encoded));
    }
    return manifests;
  }

  /**
   * Writes the files of manifests of one spec, which the parent has, into one manifest: as files that stay, or that the snapshot removes; none
   * when there are none. `counted`: they are only counted.
   */
  async rewrite(
    manifests: readonly [ManifestFile, ...ManifestFile[]],
    status: RewriteRequest['status'],
  ): Promise<{ readonly manifests: readonly ManifestFile[]; readonly files: RemovedOfSnapshot }> {
    const { table, allowedRoots, reader } = this.#place.parents;
    const target = this.#targetOf(manifests[0]);
    const { encoded, files } = await reader.rewrite({ table, allowedRoots, manifests, status, target });
    return { manifests: encoded === null ? [] : [await this.#writeManifest(encoded)], files };
  }

  /** Writes those manifests of the parent anew that have a file which goes. */
  async remove(manifests: readonly ManifestFile[], removed: ReadonlySet<string>): Promise<readonly Removed[]> {
    const { table, allowedRoots, reader } = this.#place.parents;
    const made: Removed[] = [];
    for (const group of alike(manifests)) {
      const target = this.#targetOf(group[0]);
      for (const one of await reader.remove({ table, allowedRoots, manifests: group, removed, target })) {
        const { path: source, encoded, found, files } = one;
        made.push({ source, manifest: await this.#writeManifest(encoded), found, files });
      }
    }
    return made;
  }

  /** See `ManifestReader.newDeletes`. */
  async newDeletes(
    manifests: readonly ManifestFile[],
    search: Pick<SearchRequest, 'afterSequenceNumber' | 'dataFiles'>,
  ): Promise<string | null> {
    const { table, allowedRoots, reader } = this.#place.parents;
    for (const group of alike(manifests)) {
      const found = await reader.newDeletes({ table, allowedRoots, manifests: group, ...search });
      if (found !== null) return found;
    }
    return null;
  }

  /** See `ManifestReader.find`. */
  async find(
    manifests: readonly ManifestFile[],
    search: Pick<SearchRequest, 'afterSequenceNumber' | 'dataFiles'>,
  ): Promise<FoundFiles> {
    const { table, allowedRoots, reader } = this.#place.parents;
    const parts: FoundFiles[] = [];
    for (const group of alike(manifests)) {
      parts.push(await reader.find({ table, allowedRoots, manifests: group, ...search }));
    }
    return {
      files: parts.flatMap(({ files }) => files),
      newer: parts.find(({ newer }) => newer !== null)?.newer ?? null,
    };
  }

  /** Writes manifests of delete files that the snapshot adds: one for each spec. */
  async writeDeletes(files: readonly NewDeleteFile[]): Promise<readonly ManifestFile[]> {
    const manifests: ManifestFile[] = [];
    for (const [specId, list] of Map.groupBy(files, (file) => file.specId)) {
      const { fields } = this.#place.parents.table;
      manifests.push(
        await this.#writeManifest(await encodeDeletes(this.#targetOf({ specId }), [...fields.values()], list)),
      );
    }
    return manifests;
  }

  #targetOf({ specId }: Pick<ManifestFile, 'specId'>): ManifestTarget {
    const { parents, formatVersion, schema, snapshotId } = this.#place;
    return { formatVersion, schema, spec: specById(parents.table, specId), snapshotId };
  }

  /** Writes a manifest list; each attempt of a commit has its own. */
  async writeList(
    ids: SnapshotIds,
    manifests: readonly ManifestFile[],
  ): Promise<{ readonly path: string; readonly addedRows: bigint }> {
    const { folder, writeId, formatVersion } = this.#place;
    const path = `${folder}/snap-${ids.snapshotId}-${++this.#lists}-${writeId}.avro`;
    const { bytes, addedRows } = encodeManifestList(formatVersion, ids, manifests);
    await this.#write(path, bytes);
    return { path, addedRows };
  }

  async #writeManifest({ bytes, entry }: EncodedManifest): Promise<ManifestFile> {
    const { folder, writeId } = this.#place;
    const path = `${folder}/${writeId}-m${this.#manifests++}.avro`;
    await this.#write(path, bytes);
    return { ...entry, path, lengthBytes: bytes.length };
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    this.#made.push(path);
    await this.#storage.write(path, bytes);
  }
}
