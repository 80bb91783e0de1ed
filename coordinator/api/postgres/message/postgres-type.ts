import { unreachable } from '#shared/must.ts';
import { isNumbered, numericTypmod, POSTGRES_SCALARS, postgresType } from '../../../binding/pg-types.ts';
import type { ScalarKind, ValueKind } from '../../../arrival/postgres/value-kind.ts';
import type { OutputColumn } from '../../../sink/result-sink.ts';
import type { SqlType } from '../../../plan/sql-type.ts';
import type { RelationColumn } from '../../../binding/relation-column.ts';
import { isPlainList } from '../../../sink/formed-rows.ts';

/** A column as RowDescription has it. */
export type PostgresColumn = {
  readonly name: string;
  /** The column of a table or view that it is. */
  readonly origin?: RelationColumn;
  readonly oid: number;
  readonly size: number;
  readonly typmod: number;
  readonly kind: ValueKind;
  /** Kind of the elements of an array. */
  readonly element?: ValueKind;
  /** The type of the elements of an array, where it is not that of their kind. */
  readonly elementOid?: number;
  /** A text that is a vector in binary, or that has no binary form here; absent: as its kind. */
  readonly binary?: VectorType | 'none';
};

/** Types of Postgres' catalog whose values are lists of numbers. */
export type VectorType = 'int2vector' | 'oidvector';

type Known = { readonly oid: number; readonly array: number; readonly size: number };

/** Numbers and sizes of Postgres' own types (`pg_type.dat`). */
const TYPES: Readonly<Record<ScalarKind, Known>> = {
  bool: { oid: 16, array: 1000, size: 1 },
  bytea: { oid: 17, array: 1001, size: -1 },
  int8: { oid: 20, array: 1016, size: 8 },
  int2: { oid: 21, array: 1005, size: 2 },
  int4: { oid: 23, array: 1007, size: 4 },
  oid: { oid: 26, array: 1028, size: 4 },
  text: { oid: 25, array: 1009, size: -1 },
  float4: { oid: 700, array: 1021, size: 4 },
  float8: { oid: 701, array: 1022, size: 8 },
  date: { oid: 1082, array: 1182, size: 4 },
  time: { oid: 1083, array: 1183, size: 8 },
  timestamp: { oid: 1114, array: 1115, size: 8 },
  timestamptz: { oid: 1184, array: 1185, size: 8 },
  interval: { oid: 1186, array: 1187, size: 16 },
  numeric: { oid: 1700, array: 1231, size: -1 },
  uuid: { oid: 2950, array: 2951, size: 16 },
  jsonb: { oid: 3802, array: 3807, size: -1 },
};

const SCALARS: Readonly<Record<string, ValueKind>> = POSTGRES_SCALARS;

function kindOf(type: SqlType): ValueKind {
  switch (type.kind) {
    case 'scalar':
      return SCALARS[type.name] ?? 'text';
    case 'decimal':
      return 'numeric';
    case 'enum':
    case 'union':
      return 'text';
    case 'list':
    case 'array':
      return isPlainList(type) ? 'array' : 'jsonb';
    case 'struct':
    case 'map':
      return 'jsonb';
    default:
      return unreachable(type);
  }
}

export function postgresColumn(column: OutputColumn): PostgresColumn {
  const { postgres, origin } = column;
  const own = { ...ownColumn(column), ...(origin === undefined ? {} : { origin }) };
  // The types of Postgres' catalog that DuckDB holds as other types: the values are the same.
  if (postgres === undefined) return own;
  const { oid, size, name } = postgres;
  if (own.kind === 'text') {
    if (name === 'int2vector' || name === 'oidvector') return { ...own, oid, size, binary: name };
    // The name of what a number means is all that is known here.
    return isNumbered(name) ? { ...own, oid, size, binary: 'none' } : { ...own, oid, size };
  }
  if ((name === 'oid' || name === 'xid') && own.kind === 'int8') return { ...own, oid, size, kind: 'oid' };
  if (own.kind !== 'array' || !name.startsWith('_')) return own;
  if (own.element === 'int8' && name === '_oid') return { ...own, oid, element: 'oid' };
  if (own.element !== 'text') return own;
  const element = postgresType(name.slice(1));
  return element === undefined ? { ...own, oid } : { ...own, oid, elementOid: element.oid };
}

function ownColumn({ name, type, typeName }: OutputColumn): PostgresColumn {
  const kind = typeName === 'JSON' ? 'jsonb' : kindOf(type);
  if (kind === 'array' && (type.kind === 'list' || type.kind === 'array')) {
    const element = kindOf(type.element);
    return { name, oid: TYPES[scalarKind(element)].array, size: -1, typmod: -1, kind, element };
  }
  if (kind === 'array') throw new Error('invariant: only lists are arrays');
  const typmod = type.kind === 'decimal' ? numericTypmod(type.width, type.scale) : -1;
  return { name, oid: TYPES[kind].oid, size: TYPES[kind].size, typmod, kind };
}

/** Arrays have no arrays in them. */
const scalarKind = (kind: ValueKind): ScalarKind => (kind === 'array' ? 'text' : kind);

export const oidOfKind = (kind: ValueKind): number => TYPES[scalarKind(kind)].oid;

type KnownKind =
  | { readonly kind: ScalarKind; readonly elementOid: 0 }
  | { readonly kind: 'array'; readonly elementOid: number };

/** json, bpchar and varchar are written as others are. */
const OTHERS: readonly (readonly [number, ScalarKind])[] = [
  [114, 'jsonb'],
  [1042, 'text'],
  [1043, 'text'],
];
/** Arrays of bpchar and varchar. */
const OTHER_ARRAYS: readonly number[] = [1014, 1015];

const KINDS: ReadonlyMap<number, KnownKind> = new Map<number, KnownKind>([
  ...Object.entries(TYPES).flatMap(([kind, { oid, array }]): (readonly [number, KnownKind])[] => [
    [oid, { kind: kind as ScalarKind, elementOid: 0 }],
    [array, { kind: 'array', elementOid: oid }],
  ]),
  ...OTHERS.map(([oid, kind]): readonly [number, KnownKind] => [oid, { kind, elementOid: 0 }]),
  ...OTHER_ARRAYS.map((oid): readonly [number, KnownKind] => [oid, { kind: 'array', elementOid: TYPES.text.oid }]),
]);

/** How the values of a type are written; undefined for one that is not known. */
export const kindOfOid = (oid: number): KnownKind | undefined => KINDS.get(oid);

/** The number of a type that a parameter has. */
export function oidOf(type: SqlType): number {
  return postgresColumn({ name: '', type, typeName: '' }).oid;
}
