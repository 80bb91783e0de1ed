import type { CompareOp, Literal, Predicate } from '#shared/iceberg/predicate.ts';
import { printValue } from '#shared/iceberg/print-value.ts';
import { literalToJson } from '#shared/iceberg/single-value.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { unreachable } from '#shared/must.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';

/** Values of one IN list, at most: a longer one prunes files, and rows are compared by the statement alone. */
const VALUES_MAX = 100;
/** Days of the years that have four digits. */
const [DAYS_MIN, DAYS_MAX] = [-719_162n, 2_932_896n];
const MICROS_PER_DAY = 86_400_000_000n;
const INT64 = 2n ** 63n;

const OPERATORS: Readonly<Record<CompareOp, string>> = { eq: '=', ne: '<>', lt: '<', le: '<=', gt: '>', ge: '>=' };

/**
 * A predicate over the columns of a table as an SQL condition that cannot raise: columns are compared with literals of their own types, and
 * nothing is computed. Whatever cannot be said so is left out, so it may be weaker than the predicate; null = it excludes nothing.
 */
export function predicateSql(predicate: Predicate, fields: readonly Field[]): string | null {
  const byId = new Map(fields.map((field) => [field.id, field]));
  const print = (one: Predicate): string | null => {
    switch (one.kind) {
      case 'true':
        return null;
      case 'false':
        return 'false';
      case 'and': {
        const parts = one.children.map(print).filter((part) => part !== null);
        return parts.length === 0 ? null : `(${parts.join(' AND ')})`;
      }
      case 'or': {
        const parts = one.children.map(print);
        return parts.some((part) => part === null) ? null : `(${parts.join(' OR ')})`;
      }
      case 'compare': {
        const field = byId.get(one.fieldId);
        const value = field === undefined ? null : literalSql(field, one.value);
        return field === undefined || value === null
          ? null
          : `(${quoteIdentifier(field.name)} ${OPERATORS[one.op]} ${value})`;
      }
      case 'in': {
        const field = byId.get(one.fieldId);
        if (field === undefined || one.values.length === 0 || one.values.length > VALUES_MAX) return null;
        const values = one.values.map((value) => literalSql(field, value));
        return values.some((value) => value === null)
          ? null
          : `(${quoteIdentifier(field.name)} IN (${values.join(', ')}))`;
      }
      case 'startsWith': {
        const field = byId.get(one.fieldId);
        if (field === undefined || one.prefix.includes('\0')) return null;
        return `starts_with(${quoteIdentifier(field.name)}, ${quoteLiteral(one.prefix)})`;
      }
      case 'isNull':
      case 'notNull': {
        const field = byId.get(one.fieldId);
        if (field === undefined) return null;
        return `(${quoteIdentifier(field.name)} IS ${one.kind === 'isNull' ? '' : 'NOT '}NULL)`;
      }
      default:
        return unreachable(one);
    }
  };
  return print(predicate);
}

/** Null for a value that is not printed: of a type whose order or text is not so plain, or beyond what the type may hold. */
function literalSql({ type }: Field, value: Literal): string | null {
  const { kind } = type;
  if (type.kind === 'decimal') {
    const isIn =
      typeof value === 'bigint' && value < 10n ** BigInt(type.precision) && -value < 10n ** BigInt(type.precision);
    return isIn ? printValue(type, literalToJson(type, value)) : null;
  }
  if (kind === 'boolean') return typeof value === 'boolean' ? String(value) : null;
  if (kind === 'int' || kind === 'long') {
    return typeof value === 'bigint' && value < INT64 && value > -INT64 ? `(${value})` : null;
  }
  if (kind === 'string') return typeof value === 'string' && !value.includes('\0') ? quoteLiteral(value) : null;
  if (kind !== 'date' && kind !== 'timestamp') return null;
  return inYears(value, kind === 'date' ? 1n : MICROS_PER_DAY) ? printValue(type, literalToJson(type, value)) : null;
}

const inYears = (value: Literal, perDay: bigint): boolean =>
  typeof value === 'bigint' && value >= DAYS_MIN * perDay && value <= DAYS_MAX * perDay;
