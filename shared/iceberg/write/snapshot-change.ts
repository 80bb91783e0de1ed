import type { ManifestFile } from '../manifest.ts';
import type { ManifestWriter } from './manifest-writer.ts';
import type { SnapshotCounts } from './snapshot-summary.ts';

/**
 * The files that one snapshot adds to a table or removes from it. Each kind of write has a file that makes one: `append-files.ts`,
 * `delete-all-files.ts`, `replace-files.ts`, `change-rows.ts`, and the coordinator's `optimize-manifests.ts`; they differ in which of the parent's manifests they keep, and in what they write in place of the others.
 */
export type SnapshotChange = {
  /** The operation of the snapshot's summary. */
  readonly operation: 'append' | 'delete' | 'replace' | 'overwrite';
  /** The only snapshot that the change may follow, null = none; absent = any. */
  readonly parent?: bigint | null;
  /** Further entries of the snapshot's summary. */
  readonly summary?: Readonly<Record<string, string>>;
  /** Known once `manifests` has resolved. */
  readonly counts: SnapshotCounts;
  /**
   * Returns the manifests of the snapshot, given those of its parent. It is called again when another commit came first, and then
   * writes anew only what depends on the parent.
   */
  manifests(writer: ManifestWriter, parent: readonly ManifestFile[]): Promise<readonly ManifestFile[]>;
};
