import type { MadeType } from '#shared/made-type.ts';

/**
 * Columns that views of INFORMATION_SCHEMA have in Postgres and not here: clients of its protocol may name them, and `*` never means them, as
 * with row addresses.
 */
const HIDDEN: Readonly<Record<string, Readonly<Record<string, MadeType>>>> = {
  tables: {
    self_referencing_column_name: 'VARCHAR',
    reference_generation: 'VARCHAR',
    user_defined_type_catalog: 'VARCHAR',
    user_defined_type_schema: 'VARCHAR',
    user_defined_type_name: 'VARCHAR',
    is_insertable_into: 'VARCHAR',
    is_typed: 'VARCHAR',
    commit_action: 'VARCHAR',
  },
  columns: {
    character_maximum_length: 'INTEGER',
    character_octet_length: 'INTEGER',
    numeric_precision_radix: 'INTEGER',
    datetime_precision: 'INTEGER',
    interval_type: 'VARCHAR',
    interval_precision: 'INTEGER',
    character_set_catalog: 'VARCHAR',
    character_set_schema: 'VARCHAR',
    character_set_name: 'VARCHAR',
    collation_catalog: 'VARCHAR',
    collation_schema: 'VARCHAR',
    collation_name: 'VARCHAR',
    domain_catalog: 'VARCHAR',
    domain_schema: 'VARCHAR',
    domain_name: 'VARCHAR',
    udt_catalog: 'VARCHAR',
    udt_schema: 'VARCHAR',
    udt_name: 'VARCHAR',
    scope_catalog: 'VARCHAR',
    scope_schema: 'VARCHAR',
    scope_name: 'VARCHAR',
    maximum_cardinality: 'INTEGER',
    dtd_identifier: 'VARCHAR',
    is_self_referencing: 'VARCHAR',
    is_identity: 'VARCHAR',
    identity_generation: 'VARCHAR',
    identity_start: 'VARCHAR',
    identity_increment: 'VARCHAR',
    identity_maximum: 'VARCHAR',
    identity_minimum: 'VARCHAR',
    identity_cycle: 'VARCHAR',
    is_generated: 'VARCHAR',
    generation_expression: 'VARCHAR',
    is_updatable: 'VARCHAR',
  },
  schemata: {
    default_character_set_catalog: 'VARCHAR',
    default_character_set_schema: 'VARCHAR',
    sql_path: 'VARCHAR',
  },
  views: {
    check_option: 'VARCHAR',
    is_insertable_into: 'VARCHAR',
    is_trigger_updatable: 'VARCHAR',
    is_trigger_deletable: 'VARCHAR',
    is_trigger_insertable_into: 'VARCHAR',
  },
};

const NAMES: ReadonlySet<string> = new Set(Object.values(HIDDEN).flatMap((columns) => Object.keys(columns)));

/** Whether a view has a hidden column of a folded name. */
export const isHiddenName = (name: string): boolean => NAMES.has(name);

/** The type of a hidden column of a view; undefined = it has none of the name. */
export function hiddenColumn(view: string, name: string): MadeType | undefined {
  const columns = Object.hasOwn(HIDDEN, view) ? (HIDDEN[view] ?? {}) : {};
  return Object.hasOwn(columns, name) ? columns[name] : undefined;
}
