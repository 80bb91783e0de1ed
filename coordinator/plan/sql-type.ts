import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { unreachable } from '#shared/must.ts';

/** A DuckDB type as data. */
export type SqlType =
  | { readonly kind: 'scalar'; readonly name: string }
  | { readonly kind: 'decimal'; readonly width: number; readonly scale: number }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'list'; readonly element: SqlType }
  | { readonly kind: 'array'; readonly element: SqlType; readonly length: number }
  /** Field names are empty in an unnamed one (`row(1, 2)`). */
  | { readonly kind: 'struct'; readonly fields: readonly SqlField[] }
  | { readonly kind: 'map'; readonly key: SqlType; readonly value: SqlType }
  | { readonly kind: 'union'; readonly members: readonly SqlField[] };

export type SqlField = { readonly name: string; readonly type: SqlType };

/** The type as SQL, in DuckDB's spelling: `DECIMAL(15,2)`, `BIGINT[]`, `STRUCT("a" INTEGER)`, `TIMESTAMP WITH TIME ZONE`. */
export function printSqlType(type: SqlType): string {
  switch (type.kind) {
    case 'scalar':
      return type.name;
    case 'decimal':
      return `DECIMAL(${type.width},${type.scale})`;
    case 'enum':
      return `ENUM(${type.values.map(quoteLiteral).join(', ')})`;
    case 'list':
      return `${printSqlType(type.element)}[]`;
    case 'array':
      return `${printSqlType(type.element)}[${type.length}]`;
    case 'struct':
      return `STRUCT(${type.fields.map(printField).join(', ')})`;
    case 'map':
      return `MAP(${printSqlType(type.key)}, ${printSqlType(type.value)})`;
    case 'union':
      return `UNION(${type.members.map(printField).join(', ')})`;
    default:
      return unreachable(type);
  }
}

const printField = ({ name, type }: SqlField): string =>
  name === '' ? printSqlType(type) : `${quoteIdentifier(name)} ${printSqlType(type)}`;

/** The types directly inside of a type. */
export function innerTypes(type: SqlType): readonly SqlType[] {
  switch (type.kind) {
    case 'scalar':
    case 'decimal':
    case 'enum':
      return [];
    case 'list':
    case 'array':
      return [type.element];
    case 'struct':
      return type.fields.map((field) => field.type);
    case 'map':
      return [type.key, type.value];
    case 'union':
      return type.members.map((member) => member.type);
    default:
      return unreachable(type);
  }
}

export type LeafType = Extract<SqlType, { kind: 'scalar' | 'decimal' | 'enum' }>;

/**
 * The type with every type that holds no other replaced, also inside of others. Fields of a struct without names are named by their
 * positions, `1`, `2`, ....
 */
export function mapLeaves(type: SqlType, change: (leaf: LeafType) => SqlType): SqlType {
  switch (type.kind) {
    case 'scalar':
    case 'decimal':
    case 'enum':
      return change(type);
    case 'list':
    case 'array':
      return { ...type, element: mapLeaves(type.element, change) };
    case 'struct':
      return {
        ...type,
        fields: type.fields.map((field, i) => ({
          name: field.name === '' ? String(i + 1) : field.name,
          type: mapLeaves(field.type, change),
        })),
      };
    case 'map':
      return { ...type, key: mapLeaves(type.key, change), value: mapLeaves(type.value, change) };
    case 'union':
      return { ...type, members: type.members.map(({ name, type: own }) => ({ name, type: mapLeaves(own, change) })) };
    default:
      return unreachable(type);
  }
}
