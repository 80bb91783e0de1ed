import { SkeinError } from '#shared/error.ts';
import { isBelow } from '#shared/iceberg/allowed-roots.ts';
import { nextLook } from '#shared/iceberg/expired-snapshots.ts';
import { readTableMetadata } from '#shared/iceberg/table-metadata.ts';
import { parseJson } from '#shared/json.ts';
import { normalizeLocation } from '#shared/storage/location.ts';
import { checkLocations, metadataLocation, ownFolders } from '../storage/table-location.ts';
import { checkFields, checkMembers } from '../metadata/check-counts.ts';
import { commitMetadata } from '../metadata/commit-metadata.ts';
import { commitOf, type CommitSource } from '../metadata/commit-source.ts';
import { fieldChanges, type FieldChanges } from '../metadata/field-changes.ts';
import { documentTask } from '../metadata/document-task.ts';
import { COMMIT_THREAD } from './commit-thread.ts';
import { metadataText } from '../metadata/print-metadata.ts';
import { tableFacts } from '../metadata/relation-facts.ts';
import { checkRequirement } from '../metadata/requirement.ts';
import type { Written } from './run-steps.ts';
import type { TableDocument } from '../metadata/table-document.ts';

/** Pure functions of commits over metadata documents: text in, text out. */

const parseMetadata = (text: string): TableDocument => parseJson(text) as unknown as TableDocument;

export type SwapInput = {
  /** The document before the commit. */
  readonly metadata: string;
  readonly metadataLocation: string;
  readonly version: number;
  readonly roots: readonly string[];
  readonly source: CommitSource;
  readonly nowMs: number;
  /** Becomes part of the new metadata file's name. */
  readonly uuid: string;
  readonly metadataBytesMax: number;
};

/** The new document; `dropped` lists the earlier metadata files that leave the metadata log. */
export type Swapped = Written & { readonly dropped: readonly string[]; readonly changes: FieldChanges };

/** Applies a commit to a document; null when it changes nothing. @throws COMMIT_CONFLICT, INVALID_REQUEST */
function swapMetadata(input: SwapInput): Swapped | null {
  const base = parseMetadata(input.metadata);
  const { nowMs, metadataLocation: current } = input;
  const metadata = commitMetadata(base, commitOf(input.source), { nowMs, metadataLocation: current });
  if (metadata === base) return null;
  checkLocations(metadata, base, input.roots);
  const before = new Set(ownFolders(base));
  const folders = ownFolders(metadata).filter((folder) => !before.has(folder));
  return {
    text: printMetadata(metadata, input.metadataBytesMax),
    facts: tableFacts(metadata),
    expiresAt: expiryOf(metadata, nowMs),
    file: metadataLocation(metadata, input.version + 1, input.uuid),
    location: normalizeLocation(metadata.location),
    folders,
    chosen: folders.length > 0,
    dropped: droppedFiles(base, metadata, input.roots),
    changes: fieldChanges(base, metadata),
  };
}

export const SWAP_METADATA = documentTask(swapMetadata, 'swapMetadata', COMMIT_THREAD);

/** Returns the files that leave the metadata log with a commit and may be deleted: only files in a folder of the table. */
function droppedFiles(base: TableDocument, metadata: TableDocument, roots: readonly string[]): readonly string[] {
  if (metadata.properties['write.metadata.delete-after-commit.enabled']?.toLowerCase() !== 'true') return [];
  const kept = new Set(metadata['metadata-log'].map((entry) => entry['metadata-file']));
  const folders = ownFolders(metadata);
  return base['metadata-log']
    .map((entry) => entry['metadata-file'])
    .filter((file) => !kept.has(file) && isBelow(file, roots) && isBelow(file, folders));
}

/** When to look whether something of the table has expired; few tables ask for that. */
export function expiryOf(metadata: TableDocument, nowMs: number): Date | null {
  if (!Object.keys(metadata.properties).some((name) => name.startsWith('history.expire.'))) return null;
  const next = nextLook(readTableMetadata(metadata), nowMs);
  return next === null ? null : new Date(next);
}

/** @throws INVALID_REQUEST when it is larger than `catalog.metadata_bytes_max`, or has too many members */
export function printMetadata(metadata: TableDocument, bytesMax: number): string {
  checkMembers(metadata);
  checkFields(metadata.schemas);
  const text = metadataText(metadata);
  if (Buffer.byteLength(text) > bytesMax) {
    throw new SkeinError(
      'INVALID_REQUEST',
      `the table's metadata would be larger than ${bytesMax} bytes: expire snapshots`,
    );
  }
  return text;
}

/** @throws COMMIT_CONFLICT when one of them does not hold */
function checkRequirements(input: { readonly metadata: string; readonly source: CommitSource }): void {
  const metadata = parseMetadata(input.metadata);
  for (const requirement of commitOf(input.source).requirements) checkRequirement(requirement, metadata);
}

export const CHECK_REQUIREMENTS = documentTask(checkRequirements, 'checkRequirements', COMMIT_THREAD);

/** Returns the metadata without the snapshots that no branch or tag points to; histories stay. */
function referencedOnly(text: string): string {
  const metadata = parseMetadata(text);
  const referenced = new Set(Object.values(metadata.refs).map((ref) => ref['snapshot-id']));
  const snapshots = metadata.snapshots.filter((snapshot) => referenced.has(snapshot['snapshot-id']));
  return metadataText({ ...metadata, snapshots });
}

export const REFERENCED_ONLY = documentTask(referencedOnly, 'referencedOnly', COMMIT_THREAD);
