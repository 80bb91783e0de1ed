import type { ColumnType, Generated } from 'kysely';
import type { PolicyArgument, PolicyKind } from '#shared/policy/policy-request.ts';

/** The tables of policies; a part of `Tables`. */
export type PolicyTables = {
  policy: {
    id: Generated<string>;
    tenant_id: string;
    namespace_id: string;
    kind: PolicyKind;
    name: string;
    name_folded: string;
    arguments: ColumnType<readonly PolicyArgument[], string, string>;
    returns: string;
    /** With its names completed. */
    body: string;
    /** Counts the bodies. Decimal text (int8). */
    version: Generated<string>;
    /** The name of who has made it. */
    owner: string;
    created_at: ColumnType<Date, Date, never>;
  };
  /** Tables that bodies read, by the names that the bodies have for them. */
  policy_mapping: {
    policy_id: string;
    table_id: string;
    catalog_name: string;
    /** Levels joined by the unit separator. */
    path: string;
    name: string;
    /** Columns that the body reads; null = it may read all of them. */
    field_ids: readonly number[] | null;
  };
  policy_binding: {
    table_id: string;
    policy_id: string;
    kind: PolicyKind;
    /** The columns of the arguments, in their order. */
    field_ids: readonly number[];
    masked_field_id: number | null;
    bound_at: ColumnType<Date, Date, never>;
  };
};
