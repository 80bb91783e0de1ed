import { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';
import type { Json } from '#shared/json.ts';
import { asObject, get, optionalLong, optionalString, refuse, requiredInt, requiredString } from './json-reader.ts';
import type { Long, TableDocument } from './table-document.ts';

/** Requirements of a commit (REST specification, `TableRequirement`): conditions that must still hold when the commit is applied. Pure. */
export type Requirement =
  | { readonly kind: 'assert-create' }
  | { readonly kind: 'assert-table-uuid'; readonly uuid: string }
  | { readonly kind: 'assert-ref-snapshot-id'; readonly ref: string; readonly snapshotId: Long | undefined }
  | { readonly kind: NumberRequirement; readonly value: number };

/** Requirements that compare one number of the metadata: its key in the requirement and in the metadata, its name in the message. */
const NUMBERS = {
  'assert-last-assigned-field-id': ['last-assigned-field-id', 'last-column-id', 'last assigned field id'],
  'assert-current-schema-id': ['current-schema-id', 'current-schema-id', 'current schema'],
  'assert-last-assigned-partition-id': [
    'last-assigned-partition-id',
    'last-partition-id',
    'last assigned partition id',
  ],
  'assert-default-spec-id': ['default-spec-id', 'default-spec-id', 'default partition spec'],
  'assert-default-sort-order-id': ['default-sort-order-id', 'default-sort-order-id', 'default sort order'],
} as const;
type NumberRequirement = keyof typeof NUMBERS;
const isNumberRequirement = (kind: string): kind is NumberRequirement => Object.hasOwn(NUMBERS, kind);

/** @throws INVALID_REQUEST on a requirement that the specification does not have. */
export function parseRequirement(json: Json): Requirement {
  const object = asObject(json, 'requirement');
  const kind = requiredString(object, 'type');
  if (kind === 'assert-create') return { kind };
  if (kind === 'assert-table-uuid') return { kind, uuid: requiredString(object, 'uuid') };
  if (kind === 'assert-ref-snapshot-id') {
    if (get(object, 'ref') === undefined && get(object, 'name') !== undefined) {
      return { kind, ref: optionalString(object, 'name') ?? '', snapshotId: optionalLong(object, 'snapshot-id') };
    }
    return { kind, ref: requiredString(object, 'ref'), snapshotId: optionalLong(object, 'snapshot-id') };
  }
  if (isNumberRequirement(kind)) return { kind, value: requiredInt(object, NUMBERS[kind][0]) };
  return refuse(`Unsupported requirement: ${kind}`);
}

/**
 * Checks a requirement; `metadata` is undefined for a table that does not exist.
 * @throws COMMIT_CONFLICT in Iceberg's words when the requirement does not hold
 */
export function checkRequirement(requirement: Requirement, metadata: TableDocument | undefined): void {
  if (requirement.kind === 'assert-create') {
    if (metadata !== undefined) failed('table already exists');
    return;
  }
  if (metadata === undefined) return failed('the table does not exist');
  switch (requirement.kind) {
    case 'assert-table-uuid':
      if (requirement.uuid.toLowerCase() !== metadata['table-uuid'].toLowerCase()) {
        failed(`UUID does not match: expected ${metadata['table-uuid']} != ${requirement.uuid}`);
      }
      return;
    case 'assert-ref-snapshot-id':
      checkRef(requirement.ref, requirement.snapshotId, metadata);
      return;
    case 'assert-last-assigned-field-id':
    case 'assert-current-schema-id':
    case 'assert-last-assigned-partition-id':
    case 'assert-default-spec-id':
    case 'assert-default-sort-order-id': {
      const [, key, name] = NUMBERS[requirement.kind];
      if (metadata[key] !== requirement.value) {
        failed(`${name} changed: expected id ${requirement.value} != ${metadata[key]}`);
      }
      return;
    }
    default:
      unreachable(requirement, 'requirement');
  }
}

function checkRef(name: string, expected: Long | undefined, metadata: TableDocument): void {
  const ref = Object.hasOwn(metadata.refs, name) ? metadata.refs[name] : undefined;
  if (ref === undefined) {
    if (expected !== undefined) failed(`branch or tag ${name} is missing, expected ${expected}`);
  } else if (expected === undefined) {
    failed(`${ref.type} ${name} was created concurrently`);
  } else if (expected !== ref['snapshot-id']) {
    failed(`${ref.type} ${name} has changed: expected id ${expected} != ${ref['snapshot-id']}`);
  }
}

function failed(why: string): never {
  throw new SkeinError('COMMIT_CONFLICT', `Requirement failed: ${why}`);
}
