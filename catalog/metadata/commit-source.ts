import { parseBody } from './body.ts';
import { isCreate, parseCommit, type CommitRequest } from './commit-metadata.ts';
import { documentTask, METADATA_THREAD, type DocumentOwner } from './document-task.ts';
import { parseCreateTable, type CreateTableRequest } from './new-table.ts';

/**
 * A client's request, either parsed or as bytes. A large request stays bytes until a worker thread parses it, so that it costs the main
 * thread neither time nor memory for objects.
 */
export type Source<Request> = { readonly request: Request } | { readonly bytes: Uint8Array };

/** The commit request of one table; `creates` says whether it creates the table. */
export type CommitSource = Source<CommitRequest> & { readonly creates: boolean };

/** The members of a create request that the main thread needs. */
export type CreateHead = Pick<CreateTableRequest, 'name' | 'location' | 'stageCreate'>;

export const commitOf = (source: Source<CommitRequest>): CommitRequest =>
  'request' in source ? source.request : parseCommit(parseBody(source.bytes));

export const createOf = (source: Source<CreateTableRequest>): CreateTableRequest =>
  'request' in source ? source.request : parseCreateTable(parseBody(source.bytes));

export const sourceOfCommit = (request: CommitRequest): CommitSource => ({ creates: isCreate(request), request });

/** Reads a large commit to say whether it creates the table. @throws INVALID_REQUEST */
const commitCreates = (bytes: Uint8Array): boolean => isCreate(commitOf({ bytes }));
export const COMMIT_CREATES = documentTask(commitCreates, 'commitCreates', METADATA_THREAD);

/** @throws INVALID_REQUEST */
function createHead(bytes: Uint8Array): CreateHead {
  const { name, location, stageCreate } = createOf({ bytes });
  return { name, ...(location === undefined ? {} : { location }), stageCreate };
}
export const CREATE_HEAD = documentTask(createHead, 'createHead', METADATA_THREAD);

/** Maximum number of updates of a commit that the main thread applies itself: each update may copy the document's properties. */
const UPDATES_HERE_MAX = 32;

/** Describes a document for `runDocumentTask`. A large request forces its document onto a worker thread, whatever the document's size. */
export function aboutSource(source: Source<CreateTableRequest | CommitRequest>, about: DocumentOwner): DocumentOwner {
  const updates = 'request' in source && 'updates' in source.request ? source.request.updates.length : 0;
  const isSmall = 'request' in source && updates <= UPDATES_HERE_MAX;
  return isSmall ? about : { ...about, bytes: Number.POSITIVE_INFINITY };
}
