import type { Field } from '#shared/iceberg/type.ts';
import { numericTypmod, POSTGRES_SCALARS } from '../binding/pg-types.ts';
import { pgBuiltinRows, pgRelation } from '../binding/pg-relations.ts';
import { fieldType } from '../plan/iceberg-sql-type.ts';
import type { SqlType } from '../plan/sql-type.ts';

/** The type of a column as `pg_attribute` has it. */
export type PgColumnType = {
  readonly name: string;
  readonly oid: number;
  readonly typmod: number;
  readonly length: number;
  readonly isArray: boolean;
  readonly isByValue: boolean;
  readonly align: string;
  readonly storage: string;
  readonly collation: number;
};

const NAMES: Readonly<Record<string, string>> = POSTGRES_SCALARS;

function pgTypeName(type: SqlType): string {
  if (type.kind === 'scalar') return NAMES[type.name] ?? 'text';
  if (type.kind === 'decimal') return 'numeric';
  if (type.kind === 'struct' || type.kind === 'map') return 'jsonb';
  if (type.kind !== 'list' && type.kind !== 'array') return 'text';
  const element = pgTypeName(type.element);
  return element === 'jsonb' || element.startsWith('_') ? 'jsonb' : `_${element}`;
}

export function pgColumnType(field: Field, isInterval: boolean): PgColumnType {
  const { type } = field;
  // Most columns have one of few types: a table's columns are read each time that its rows are made.
  const key = isInterval
    ? 'interval'
    : type.kind === 'decimal'
      ? `decimal ${type.precision} ${type.scale}`
      : COMPOSITE.has(type.kind)
        ? null
        : type.kind;
  const known = key === null ? undefined : shared.get(key);
  if (known !== undefined) return known;
  const found = columnType(field, isInterval);
  if (key !== null) shared.set(key, found);
  return found;
}

const COMPOSITE: ReadonlySet<string> = new Set(['struct', 'list', 'map', 'fixed']);
/** By kinds of types: a few dozen. */
const shared = new Map<string, PgColumnType>();

function columnType(field: Field, isInterval: boolean): PgColumnType {
  const sqlType = typeOf(field);
  const known = typesByName().get(isInterval ? 'interval' : pgTypeName(sqlType));
  const typmod = sqlType.kind === 'decimal' ? numericTypmod(sqlType.width, sqlType.scale) : -1;
  return { ...(known ?? NO_TYPE), typmod };
}

/** A type that DuckDB cannot hold is shown as a text. */
function typeOf(field: Field): SqlType {
  try {
    return fieldType(field).type;
  } catch {
    return { kind: 'scalar', name: 'VARCHAR' };
  }
}

const NO_TYPE = {
  name: 'text',
  oid: 25,
  length: -1,
  isArray: false,
  isByValue: false,
  align: 'i',
  storage: 'x',
  collation: 100,
};

let types: ReadonlyMap<string, Omit<PgColumnType, 'typmod'>> | undefined;

/** Postgres' own rows of its types. */
function typesByName(): ReadonlyMap<string, Omit<PgColumnType, 'typmod'>> {
  types ??= new Map(readTypes());
  return types;
}

function readTypes(): readonly (readonly [string, Omit<PgColumnType, 'typmod'>])[] {
  const relation = pgRelation('pg_catalog', 'pg_type');
  const at = (name: string): number => relation?.columns.findIndex(([column]) => column === name) ?? 0;
  const [oid, name, length, category, byValue, align, storage, collation] = [
    'oid',
    'typname',
    'typlen',
    'typcategory',
    'typbyval',
    'typalign',
    'typstorage',
    'typcollation',
  ].map(at);
  return pgBuiltinRows('pg_type').map((row) => {
    const text = (index: number | undefined): string => row[index ?? 0] ?? '';
    return [
      text(name),
      {
        name: text(name),
        oid: Number(text(oid)),
        length: Number(text(length)),
        isArray: text(category) === 'A',
        isByValue: text(byValue) === 'true',
        align: text(align),
        storage: text(storage),
        collation: Number(text(collation)),
      },
    ];
  });
}
