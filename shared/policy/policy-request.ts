import { Type, type Static, type TProperties } from 'typebox';

/**
 * Statements about row-access and masking policies, as the coordinator has read and checked them and the catalog runs them. Bodies come with
 * every name in them completed, and never go into a log.
 */

/** Characters of one name, as of any identifier. */
const NAME_LENGTH_MAX = 1_024;
/** Bytes of a body, as the statement has it and as its names were completed. */
export const BODY_BYTES_MAX = 16 * 1024;
/** Characters of a completed body: each of its names may have grown by its catalog and schema. */
const COMPLETED_LENGTH_MAX = 4 * BODY_BYTES_MAX;
export const POLICY_ARGUMENTS_MAX = 16;
export const MAPPING_TABLES_MAX = 4;
export const POLICY_KINDS = ['row_access', 'masking'] as const;
export type PolicyKind = (typeof POLICY_KINDS)[number];

const text = Type.String({ maxLength: NAME_LENGTH_MAX });
const flag = Type.Boolean();
const one = <const K extends string, P extends TProperties>(kind: K, properties: P) =>
  Type.Object({ kind: Type.Literal(kind), ...properties }, { additionalProperties: false });

const policyKind = Type.Unsafe<PolicyKind>({ type: 'string', enum: [...POLICY_KINDS] });
const body = Type.String({ maxLength: COMPLETED_LENGTH_MAX });
const levels = Type.Array(text, { maxItems: 100 });
/** A policy's name, with every level spelled out. */
const policy = Type.Object({ catalog: text, namespace: levels, name: text });
const table = Type.Object({ catalog: text, namespace: levels, table: text });
/** `name` is how the body spells it; `shown` is as the statement had it. */
const argument = Type.Object({ name: text, shown: text, type: text });
/** A table that the body reads, at the version that was read. `columns` are ids of fields; null = the body may read all of them. */
const mapping = Type.Object({
  table,
  version: text,
  columns: Type.Union([Type.Array(Type.Integer(), { maxItems: 10_000 }), Type.Null()]),
});
const mappings = Type.Array(mapping, { maxItems: MAPPING_TABLES_MAX });

/** A table at the version that was read: as it is when a policy is bound to its columns. */
const boundTable = Type.Object({ table, version: text });
const fieldIds = Type.Array(Type.Integer(), { minItems: 1, maxItems: POLICY_ARGUMENTS_MAX });

export type PolicyRequest = Static<typeof PolicyRequest>;
export const PolicyRequest = Type.Union([
  one('create_policy', {
    policy,
    policyKind,
    orReplace: flag,
    ifNotExists: flag,
    arguments: Type.Array(argument, { minItems: 1, maxItems: POLICY_ARGUMENTS_MAX }),
    returns: text,
    body,
    mappings,
  }),
  one('set_body', { policy, policyKind, version: text, body, mappings }),
  one('drop_policy', { policy, policyKind, ifExists: flag }),
  /** Reads the facts of a policy that a binding and a new body need. */
  one('find_policy', { policy, policyKind }),
  one('bind_row_policy', { table: boundTable, policy, version: text, fieldIds, mappings }),
  one('unbind_row_policy', { table, policy }),
  one('unbind_row_policies', { table }),
  one('set_masking_policy', { table: boundTable, policy, version: text, fieldIds, mappings }),
  one('unset_masking_policy', { table: boundTable, fieldId: Type.Integer() }),
  one('show_policies', { policyKind, after: Type.Union([text, Type.Null()]), limit: Type.Integer({ minimum: 1 }) }),
  one('describe_policy', { policy, policyKind }),
]);
export type PolicyRequestOf<Kind extends PolicyRequest['kind']> = Extract<PolicyRequest, { readonly kind: Kind }>;

export type PolicyArgument = Static<typeof argument>;
export type MappingRequest = Static<typeof mapping>;

/** The answer to `find_policy`. */
export type FoundPolicy = {
  readonly id: string;
  readonly version: string;
  readonly arguments: readonly PolicyArgument[];
  readonly returns: string;
  /** With its names completed. */
  readonly body: string;
};
