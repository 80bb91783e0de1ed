import { SkeinError } from '#shared/error.ts';
import type { Json } from '#shared/json.ts';
import {
  asObject,
  get,
  maybe,
  optionalArray,
  optionalString,
  refuse,
  requiredArray,
  requiredInt,
  requiredString,
  stringList,
  stringMap,
} from '../json-reader.ts';
import { parseDocumentSchema } from '../document-schema.ts';
import type { Properties, DocumentSchema } from '../table-document.ts';
import { parseViewVersion, type ViewMetadata, type ViewVersion } from './view-metadata.ts';

/** Parses a client's requests about views. Errors are INVALID_REQUEST. */

/** `CreateViewRequest` of the REST specification. */
export type CreateViewRequest = {
  readonly name: string;
  readonly location?: string;
  readonly schema: DocumentSchema;
  readonly version: ViewVersion;
  readonly properties: Properties;
};

export function parseCreateView(body: Json | undefined): CreateViewRequest {
  const object = asObject(body, 'create view request');
  return {
    name: requiredString(object, 'name'),
    ...maybe('location', optionalString(object, 'location')),
    schema: parseDocumentSchema(get(object, 'schema')),
    version: parseViewVersion(get(object, 'view-version')),
    properties: stringMap(get(object, 'properties'), 'properties'),
  };
}

/** The changes of a commit (REST specification, `ViewUpdate`); an id of -1 is the last added one. */
export type ViewUpdate =
  | { readonly kind: 'assign-uuid'; readonly uuid: string }
  | { readonly kind: 'upgrade-format-version'; readonly version: number }
  | { readonly kind: 'add-schema'; readonly schema: DocumentSchema }
  | { readonly kind: 'set-location'; readonly location: string }
  | { readonly kind: 'set-properties'; readonly properties: Properties }
  | { readonly kind: 'remove-properties'; readonly names: readonly string[] }
  | { readonly kind: 'add-view-version'; readonly version: ViewVersion }
  | { readonly kind: 'set-current-view-version'; readonly id: number };

/** `CommitViewRequest` of the REST specification; the only requirement is a uuid. */
export type ViewCommit = { readonly uuids: readonly string[]; readonly updates: readonly ViewUpdate[] };

const UPDATES_MAX = 1_000;
const REQUIREMENTS_MAX = 100;

export function parseViewCommit(body: Json | undefined): ViewCommit {
  const object = asObject(body, 'commit view request');
  const requirements = optionalArray(object, 'requirements') ?? [];
  const updates = requiredArray(object, 'updates');
  if (requirements.length > REQUIREMENTS_MAX) refuse(`Cannot check more than ${REQUIREMENTS_MAX} requirements at once`);
  if (updates.length > UPDATES_MAX) refuse(`Cannot apply more than ${UPDATES_MAX} updates at once`);
  return { uuids: requirements.map(parseUuidRequirement), updates: updates.map(parseViewUpdate) };
}

function parseUuidRequirement(json: Json): string {
  const object = asObject(json, 'requirement');
  const type = requiredString(object, 'type');
  if (type !== 'assert-view-uuid') refuse(`Unsupported requirement: ${type}`);
  return requiredString(object, 'uuid');
}

function parseViewUpdate(json: Json): ViewUpdate {
  const object = asObject(json, 'update');
  const kind = requiredString(object, 'action');
  switch (kind) {
    case 'assign-uuid':
      return { kind, uuid: requiredString(object, 'uuid') };
    case 'upgrade-format-version':
      return { kind, version: requiredInt(object, 'format-version') };
    case 'add-schema':
      return { kind, schema: parseDocumentSchema(get(object, 'schema')) };
    case 'set-location':
      return { kind, location: requiredString(object, 'location') };
    case 'set-properties':
      return { kind, properties: stringMap(asObject(get(object, 'updates'), 'updates'), 'updates') };
    case 'remove-properties':
      return { kind, names: stringList(requiredArray(object, 'removals'), 'removals') };
    case 'add-view-version':
      return { kind, version: parseViewVersion(get(object, 'view-version')) };
    case 'set-current-view-version':
      return { kind, id: requiredInt(object, 'view-version-id') };
    default:
      return refuse(`Cannot convert metadata update action to update: ${kind}`);
  }
}

/** @throws COMMIT_CONFLICT when the view is not the one that the client means. */
export function checkViewRequirements(uuids: readonly string[], metadata: ViewMetadata): void {
  for (const uuid of uuids) {
    if (uuid.toLowerCase() === metadata['view-uuid'].toLowerCase()) continue;
    throw new SkeinError(
      'COMMIT_CONFLICT',
      `Requirement failed: view UUID does not match: expected ${metadata['view-uuid']} != ${uuid}`,
    );
  }
}
