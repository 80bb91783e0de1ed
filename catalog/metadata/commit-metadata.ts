import type { Json } from '#shared/json.ts';
import { applyUpdate } from './apply-updates.ts';
import { draftOf, finishDraft } from './draft.ts';
import { asObject, get, optionalArray, refuse } from './json-reader.ts';
import { checkRequirement, parseRequirement, type Requirement } from './requirement.ts';
import type { TableDocument } from './table-document.ts';
import { parseUpdates, type Update } from './update.ts';

/** `CommitTableRequest` of the REST specification. */
export type CommitRequest = { readonly requirements: readonly Requirement[]; readonly updates: readonly Update[] };

const REQUIREMENTS_MAX = 1_000;

export function parseCommit(body: Json | undefined): CommitRequest {
  const object = asObject(body, 'commit table request');
  const requirements = optionalArray(object, 'requirements') ?? [];
  if (requirements.length > REQUIREMENTS_MAX) refuse(`Cannot check more than ${REQUIREMENTS_MAX} requirements at once`);
  if (get(object, 'updates') === undefined) refuse('Cannot parse missing list: updates');
  const request = {
    requirements: requirements.map(parseRequirement),
    updates: parseUpdates(optionalArray(object, 'updates') ?? []),
  };
  const creates = isCreate(request);
  if (creates && request.requirements.some(({ kind }) => kind !== 'assert-create')) {
    refuse('Invalid create requirements: assert-create excludes all others');
  }
  return request;
}

export const isCreate = (request: CommitRequest): boolean =>
  request.requirements.some(({ kind }) => kind === 'assert-create');

/**
 * The table after a commit; `base` itself when the commit changes nothing.
 * @throws COMMIT_CONFLICT when a requirement does not hold or the commit was made for an older state, INVALID_REQUEST when it fits no
 * state.
 */
export function commitMetadata(
  base: TableDocument,
  request: CommitRequest,
  context: { readonly nowMs: number; readonly metadataLocation: string },
): TableDocument {
  for (const requirement of request.requirements) checkRequirement(requirement, base);
  const draft = draftOf(base, context.nowMs);
  for (const update of request.updates) applyUpdate(draft, update);
  return finishDraft(draft, context.metadataLocation);
}
