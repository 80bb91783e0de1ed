import type { Storage } from '#shared/storage/storage.ts';
import type { ManifestFile } from '../manifest.ts';
import type { NewDataFile } from './data-file.ts';
import { encodeManifests, type ManifestTarget } from './write-manifest.ts';
import { encodeManifestList, type SnapshotIds } from './write-manifest-list.ts';

/** Where and how the metadata files of one snapshot are written. */
export type ManifestPlace = ManifestTarget & {
  /** Folder of the table's metadata files. */
  readonly folder: string;
  /** Unique part of the names of this write's files. */
  readonly writeId: string;
  /** Size at which a manifest ends and the next one begins. */
  readonly targetBytes: number;
};

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

  /** Paths of the files written so far. */
  get made(): readonly string[] {
    return this.#made;
  }

  /** Writes manifests of files that the snapshot adds. */
  async writeAdded(files: readonly NewDataFile[]): Promise<readonly ManifestFile[]> {
    const { folder, writeId, targetBytes } = this.#place;
    const manifests: ManifestFile[] = [];
    for await (const { bytes, entry } of encodeManifests(this.#place, files, targetBytes)) {
      const path = `${folder}/${writeId}-m${this.#manifests++}.avro`;
      await this.#write(path, bytes);
      manifests.push({ ...entry, path, lengthBytes: bytes.length });
    }
    return manifests;
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

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    this.#made.push(path);
    await this.#storage.write(path, bytes);
  }
}
