import { parseBody } from '../rest/body.ts';
import { isCreate, parseCommit, type CommitRequest } from './commit-metadata.ts';
import { documentTask, type DocumentOwner } from './document-task.ts';
import { parseCreateTable, type CreateTableRequest } from './new-table.ts';

/** A client's request: read, or the bytes of a large one, which only threads read: neither its objects nor the time go to the main thread. */
export type Source<Request> = { readonly request: Request } | { readonly bytes: Uint8Array };

/** The commit of one table. */
export type CommitSource = Source<CommitRequest> & { readonly creates: boolean };

/** What the main thread must know of a create. */
export type CreateHead = Pick<CreateTableRequest, 'name' | 'location' | 'stageCreate'>;

export const commitOf = (source: Source<CommitRequest>): CommitRequest =>
  'request' in source ? source.request : parseCommit(parseBody(source.bytes));

export const createOf = (source: Source<CreateTableRequest>): CreateTableRequest =>
  'request' in source ? source.request : parseCreateTable(parseBody(source.bytes));

export const sourceOfCommit = (request: CommitRequest): CommitSource => ({ creates: isCreate(request), request });

/** Reads a large commit to say whether it creates the table. @throws INVALID_REQUEST */
const commitCreates = (bytes: Uint8Array): boolean => isCreate(commitOf({ bytes }));
export const COMMIT_CREATES = documentTask(commitCreates, 'commitCreates');

/** @throws INVALID_REQUEST */
function createHead(bytes: Uint8Array): CreateHead {
  const { name, location, stageCreate } = createOf({ bytes });
  return { name, ...(location === undefined ? {} : { location }), stageCreate };
}
export const CREATE_HEAD = documentTask(createHead, 'createHead');

/** Changes of a commit that is applied at once: each may copy the document's properties. */
const UPDATES_HERE_MAX = 32;

/** For whoever may have to hand a document to a thread: one that a large request is for goes there, whatever its size. */
export function aboutSource(source: Source<CreateTableRequest | CommitRequest>, about: DocumentOwner): DocumentOwner {
  const updates = 'request' in source && 'updates' in source.request ? source.request.updates.length : 0;
  const isSmall = 'request' in source && updates <= UPDATES_HERE_MAX;
  return isSmall ? about : { ...about, bytes: Number.POSITIVE_INFINITY };
}
