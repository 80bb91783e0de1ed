import { normalizeLocation } from '#shared/storage/location.ts';
import { checkLocations, metadataLocation, ownFolders } from '../storage/table-location.ts';
import type { CommitRequest } from '../metadata/commit-metadata.ts';
import { commitOf, createOf, type Source } from '../metadata/commit-source.ts';
import { documentTask } from '../metadata/document-task.ts';
import { COMMIT_THREAD } from './commit-thread.ts';
import { metadataOfUpdates, newTableMetadata, type CreateTableRequest, type Creation } from '../metadata/new-table.ts';
import { tableFacts } from '../metadata/relation-facts.ts';
import type { Written } from './run-steps.ts';
import { expiryOf, printMetadata } from './swap-metadata.ts';
import type { TableDocument } from '../metadata/table-document.ts';

/** The input of a new table's metadata; `uuid` becomes part of the metadata file's name. */
export type CreateInput<Request> = {
  readonly source: Source<Request>;
  readonly creation: Creation;
  readonly roots: readonly string[];
  readonly uuid: string;
  readonly metadataBytesMax: number;
};

/** Computes the metadata of a create request. @throws INVALID_REQUEST */
function newMetadata(input: CreateInput<CreateTableRequest>): Written {
  const request = createOf(input.source);
  return written(newTableMetadata(request, input.creation), input, request.location !== undefined);
}
export const NEW_METADATA = documentTask(newMetadata, 'newMetadata', COMMIT_THREAD);

/** Computes the metadata of a commit that ends a staged create. @throws INVALID_REQUEST */
function createdMetadata(input: CreateInput<CommitRequest>): Written {
  const metadata = metadataOfUpdates(commitOf(input.source).updates, input.creation);
  return written(metadata, input, metadata.location !== input.creation.location);
}
export const CREATED_METADATA = documentTask(createdMetadata, 'createdMetadata', COMMIT_THREAD);

/**
 * Packs metadata with its file and folders. `chosen` is false only when the catalog's own location, which is unique, is the only folder;
 * folders that a client chose must be compared with those of other tables.
 */
function written(metadata: TableDocument, input: CreateInput<unknown>, locationChosen: boolean): Written {
  checkLocations(metadata, undefined, input.roots);
  const folders = ownFolders(metadata);
  return {
    text: printMetadata(metadata, input.metadataBytesMax),
    facts: tableFacts(metadata),
    expiresAt: expiryOf(metadata, input.creation.nowMs),
    file: metadataLocation(metadata, 0, input.uuid),
    location: normalizeLocation(metadata.location),
    folders,
    chosen: locationChosen || folders.length > 1,
  };
}
