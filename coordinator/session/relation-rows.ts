import { unreachable } from '#shared/must.ts';
import { isRfc3339 } from '#shared/rfc3339.ts';
import type { Field } from '#shared/iceberg/type.ts';
import type { MadeValue } from '#shared/made-type.ts';
import type { MadeRow } from '../binding/made-columns.ts';
import type { SchemaViewName } from '../binding/schema-views.ts';
import type { Relation, RelationColumns, RelationPolicy } from '../catalog-client/relation.ts';
import { pgColumnType } from './pg-column-type.ts';
import { columnDefault, sqlTypeName } from './sql-type-name.ts';

/** The views that have rows of relations. */
export type RelationView = Extract<SchemaViewName, 'tables' | 'columns' | 'views' | 'policy_references'>;

/**
 * The rows of a view, value by value: a query that names few columns of 300,000 rows pays for no others. @param isPostgres types of columns are
 * told as Postgres does it
 */
export function relationRows(
  view: RelationView,
  { catalog, isPostgres }: { readonly catalog: string; readonly isPostgres: boolean },
  names: readonly string[],
): (relation: Relation) => readonly MadeRow[] {
  const place: Values<Relation> = {
    table_catalog: () => catalog,
    table_schema: ({ schema }) => schema,
    table_name: ({ name }) => name,
  };
  switch (view) {
    case 'tables': {
      const values = valuesOf(names, { ...place, ...TABLE_VALUES });
      return (relation) => [values.map((value) => value(relation))];
    }
    case 'views': {
      const values = valuesOf(names, { ...place, ...VIEW_VALUES });
      return (relation) => (relation.kind === 'VIEW' ? [values.map((value) => value(relation))] : []);
    }
    case 'columns': {
      const ofPlace = Object.entries({ ...place, udt_catalog: place['table_catalog'] ?? nothing }).map(
        ([name, value]) => [name, (one: Column) => value(one.relation)] as const,
      );
      const types = isPostgres ? POSTGRES_TYPE_VALUES : {};
      const values = valuesOf(names, { ...Object.fromEntries(ofPlace), ...COLUMN_VALUES, ...types });
      return (relation) => {
        const columns = relation.columns();
        return columns.fields.map((field, i) => {
          const column = { relation, columns, field, position: i + 1 };
          return values.map((value) => value(column));
        });
      };
    }
    case 'policy_references': {
      const values = valuesOf(names, { ...REFERENCE_VALUES, ref_database_name: () => catalog });
      return (relation) => relation.policies.map((policy) => values.map((value) => value({ relation, policy })));
    }
    default:
      return unreachable(view);
  }
}

type Values<Of> = Readonly<Record<string, (of: Of) => MadeValue>>;

const valuesOf = <Of>(names: readonly string[], values: Values<Of>): readonly ((of: Of) => MadeValue)[] =>
  names.map((name) => values[name] ?? nothing);

/** Columns that say nothing here. */
const nothing = (): MadeValue => null;

const TABLE_VALUES: Values<Relation> = {
  table_type: ({ kind }) => (kind === 'TABLE' ? 'BASE TABLE' : kind),
  table_owner: ({ owner }) => owner,
  row_count: ({ rows }) => wholeNumber(rows),
  bytes: ({ bytes }) => wholeNumber(bytes),
  created: ({ created }) => inUtc(created),
  comment: ({ comment }) => comment,
  rls_enabled: ({ policies }) => policies.some(({ kind }) => kind === 'row_access'),
  is_insertable_into: ({ kind }) => (kind === 'TABLE' ? 'YES' : 'NO'),
  is_typed: () => 'NO',
};

/** A time in UTC, also one that was given with an offset; a text that is no time as it is. */
function inUtc(created: string | null): string | null {
  if (created === null || !/[+-]\d\d:\d\d$/.test(created) || !isRfc3339(created)) return created;
  const ms = Date.parse(created);
  return Number.isNaN(ms) ? created : new Date(ms).toISOString().replace('.000Z', 'Z');
}

const wholeNumber = (text: string | null): bigint | null => (text === null ? null : BigInt(text));

const VIEW_VALUES: Values<Relation> = {
  view_definition: () => null,
  is_updatable: () => 'NO',
  check_option: () => 'NONE',
  is_insertable_into: () => 'NO',
  is_trigger_updatable: () => 'NO',
  is_trigger_deletable: () => 'NO',
  is_trigger_insertable_into: () => 'NO',
};

type Reference = { readonly relation: Relation; readonly policy: RelationPolicy };

/** As the service specification has them: masking policies without catalog and schema, and no names of arguments. */
const REFERENCE_VALUES: Values<Reference> = {
  policy_db: ({ policy }) => (policy.kind === 'masking' ? null : policy.catalog),
  policy_schema: ({ policy }) => (policy.kind === 'masking' ? null : policy.schema),
  policy_name: ({ policy }) => policy.name,
  policy_kind: ({ policy }) => (policy.kind === 'masking' ? 'MASKING_POLICY' : 'ROW_ACCESS_POLICY'),
  ref_schema_name: ({ relation }) => relation.schema,
  ref_entity_name: ({ relation }) => relation.name,
  ref_entity_domain: () => 'TABLE',
  ref_column_name: ({ relation, policy }) =>
    relation.columns().fields.find(({ id }) => id === policy.fieldId)?.name ?? null,
  ref_arg_column_names: () => null,
};

type Column = {
  readonly relation: Relation;
  readonly columns: RelationColumns;
  readonly field: Field;
  readonly position: number;
};

/** The type of a column as Postgres' clients see it. */
const udtOf = ({ field, columns }: Column): string => pgColumnType(field, columns.intervals.has(field.name)).name;

const COLUMN_VALUES: Values<Column> = {
  column_name: ({ field }) => field.name,
  ordinal_position: ({ position }) => position,
  data_type: ({ field, columns }) => (columns.intervals.has(field.name) ? 'INTERVAL' : sqlTypeName(field.type)),
  is_nullable: ({ field }) => (field.required ? 'NO' : 'YES'),
  column_default: ({ field }) => columnDefault(field.writeDefault),
  numeric_precision: ({ field: { type } }) => (type.kind === 'decimal' ? type.precision : null),
  numeric_scale: ({ field: { type } }) => (type.kind === 'decimal' ? type.scale : null),
  comment: ({ field }) => field.doc ?? null,
  is_primary_key: ({ field, columns }) => columns.keys.has(field.id),
  character_octet_length: (column) => (udtOf(column) === 'text' ? OCTETS_MAX : null),
  numeric_precision_radix: (column) => RADIX[udtOf(column)] ?? null,
  datetime_precision: (column) => TIME_DIGITS[udtOf(column)] ?? null,
  udt_schema: () => 'pg_catalog',
  udt_name: udtOf,
  dtd_identifier: ({ position }) => String(position),
  is_self_referencing: () => 'NO',
  is_identity: () => 'NO',
  identity_cycle: () => 'NO',
  is_generated: () => 'NEVER',
  is_updatable: ({ relation }) => (relation.kind === 'TABLE' ? 'YES' : 'NO'),
};

/** As clients of Postgres know types: an array is an ARRAY, and numbers have their bits. */
const POSTGRES_TYPE_VALUES: Values<Column> = {
  data_type: (column) => {
    const name = udtOf(column);
    return name.startsWith('_') ? 'ARRAY' : (POSTGRES_NAMES[name] ?? name);
  },
  numeric_precision: (column) => BITS[udtOf(column)] ?? COLUMN_VALUES['numeric_precision']?.(column) ?? null,
  numeric_scale: (column) => (WHOLE.has(udtOf(column)) ? 0 : (COLUMN_VALUES['numeric_scale']?.(column) ?? null)),
};

/** Names of types that are not those in `pg_type`. */
const POSTGRES_NAMES: Readonly<Record<string, string>> = {
  bool: 'boolean',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  float4: 'real',
  float8: 'double precision',
  time: 'time without time zone',
  timestamp: 'timestamp without time zone',
  timestamptz: 'timestamp with time zone',
};
const BITS: Readonly<Record<string, number>> = { int2: 16, int4: 32, int8: 64, float4: 24, float8: 53 };
const WHOLE: ReadonlySet<string> = new Set(['int2', 'int4', 'int8']);

/** As Postgres says it of texts without a length. */
const OCTETS_MAX = 2 ** 30;
const RADIX: Readonly<Record<string, number>> = { int2: 2, int4: 2, int8: 2, float4: 2, float8: 2, numeric: 10 };
const TIME_DIGITS: Readonly<Record<string, number>> = { date: 0, time: 6, timestamp: 6, timestamptz: 6, interval: 6 };
