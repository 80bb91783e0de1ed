import { SkeinError } from '#shared/error.ts';
import type { Json } from '#shared/json.ts';
import { unreachable } from '#shared/must.ts';
import type { ComparisonOp, Expression, Term, UnaryOp } from './expression.ts';
import type { CompareOp, Literal, Predicate } from './predicate.ts';
import { readLiteral } from './read-literal.ts';
import type { Field, IcebergType } from './type.ts';

/**
 * Converts a client's expression to a predicate over field ids that prunes files. In Iceberg a null is not equal to anything and starts
 * with nothing, so `not-eq`, `not-in`, `not-starts-with` and `not-nan` are true of it. Negations are pushed down to the leaves; then
 * everything that a predicate cannot express weakens to `true`, so the result is never stronger than the expression.
 * @throws INVALID_REQUEST for an unknown or ambiguous column, or a value that is not one of its type.
 */
export function bindExpression(expression: Expression, columns: ColumnNames): Predicate {
  return bind(expression, false, columns);
}

/** The columns of a schema by their full names (`person.name.first`, `tags.element`), with or without regard to case. */
export class ColumnNames {
  readonly #byName = new Map<string, BoundColumn | 'ambiguous'>();
  readonly #byId = new Map<number, BoundColumn>();
  readonly #caseSensitive: boolean;

  constructor(fields: readonly Field[], caseSensitive: boolean) {
    this.#caseSensitive = caseSensitive;
    this.#add(fields, '', false);
  }

  #add(fields: readonly Field[], prefix: string, inCollection: boolean): void {
    for (const field of fields) {
      const path = `${prefix}${field.name}`;
      const key = this.#keyOf(path);
      const bound = { fieldId: field.id, type: field.type, inCollection };
      this.#byName.set(key, this.#byName.has(key) ? 'ambiguous' : bound);
      this.#byId.set(field.id, bound);
      const { type } = field;
      if (type.kind === 'struct') this.#add(type.fields, `${path}.`, inCollection);
      else if (type.kind === 'list') this.#add([type.element], `${path}.`, true);
      else if (type.kind === 'map') this.#add([type.key, type.value], `${path}.`, true);
    }
  }

  #keyOf(name: string): string {
    return this.#caseSensitive ? name : name.toLowerCase();
  }

  /** @throws INVALID_REQUEST */
  find(column: string | number): BoundColumn {
    const found = typeof column === 'number' ? this.#byId.get(column) : this.#byName.get(this.#keyOf(column));
    if (found === undefined) throw invalid(`Cannot find field '${String(column).slice(0, 200)}' in the schema`);
    if (found === 'ambiguous') throw invalid(`Field '${String(column).slice(0, 200)}' is ambiguous in the schema`);
    return found;
  }
}

export type BoundColumn = {
  readonly fieldId: number;
  readonly type: IcebergType;
  /** Whether the column lies below a list or map: its statistics then describe elements, not rows. */
  readonly inCollection: boolean;
};

const TRUE: Predicate = { kind: 'true' };
const FALSE: Predicate = { kind: 'false' };

function bind(expression: Expression, negated: boolean, columns: ColumnNames): Predicate {
  switch (expression.kind) {
    case 'true':
    case 'false':
      return (expression.kind === 'true') === negated ? FALSE : TRUE;
    case 'opaque':
      return TRUE;
    case 'not':
      return bind(expression.child, !negated, columns);
    case 'and':
    case 'or': {
      const children = [expression.left, expression.right].map((child) => bind(child, negated, columns));
      return combine((expression.kind === 'and') === negated ? 'or' : 'and', children);
    }
    case 'is-null':
    case 'not-null':
    case 'is-nan':
    case 'not-nan': {
      const column = columnOf(expression.term, columns);
      return column === undefined ? TRUE : bindUnary(negated ? NEGATED[expression.kind] : expression.kind, column);
    }
    case 'in':
    case 'not-in': {
      const column = columnOf(expression.term, columns);
      if (column === undefined) return TRUE;
      const isIn = (expression.kind === 'in') !== negated;
      return bindSet(isIn, column, expression.values);
    }
    case 'lt':
    case 'lt-eq':
    case 'gt':
    case 'gt-eq':
    case 'eq':
    case 'not-eq':
    case 'starts-with':
    case 'not-starts-with': {
      const column = columnOf(expression.term, columns);
      if (column === undefined) return TRUE;
      return bindComparison(negated ? NEGATED[expression.kind] : expression.kind, column, expression.value);
    }
    default:
      return unreachable(expression, 'expression');
  }
}

function combine(kind: 'and' | 'or', children: readonly Predicate[]): Predicate {
  const absorbing = kind === 'and' ? 'false' : 'true';
  if (children.some((child) => child.kind === absorbing)) return kind === 'and' ? FALSE : TRUE;
  const rest = children.filter((child) => child.kind !== 'true' && child.kind !== 'false');
  if (rest.length === 0) return kind === 'and' ? TRUE : FALSE;
  return rest.length === 1 ? (rest[0] ?? TRUE) : { kind, children: rest };
}

const NEGATED = {
  'is-null': 'not-null',
  'not-null': 'is-null',
  'is-nan': 'not-nan',
  'not-nan': 'is-nan',
  lt: 'gt-eq',
  'lt-eq': 'gt',
  gt: 'lt-eq',
  'gt-eq': 'lt',
  eq: 'not-eq',
  'not-eq': 'eq',
  'starts-with': 'not-starts-with',
  'not-starts-with': 'starts-with',
} as const satisfies Record<UnaryOp | ComparisonOp, UnaryOp | ComparisonOp>;

/** Returns the column of a term; undefined when predicates cannot express it: a function of a column, or a part of a list or map. */
function columnOf(term: Term, columns: ColumnNames): BoundColumn | undefined {
  if (term.kind === 'opaque') return undefined;
  const column = columns.find(term.column);
  return term.transform !== undefined || column.inCollection ? undefined : column;
}

const isFloat = ({ kind }: IcebergType): boolean => kind === 'float' || kind === 'double';

function bindUnary(op: UnaryOp, { fieldId, type }: BoundColumn): Predicate {
  switch (op) {
    case 'is-null':
      return { kind: 'isNull', fieldId };
    case 'not-null':
      return { kind: 'notNull', fieldId };
    case 'is-nan':
      return isFloat(type) ? { kind: 'compare', op: 'eq', fieldId, value: Number.NaN } : FALSE;
    case 'not-nan':
      return isFloat(type) ? orNull(fieldId, { kind: 'compare', op: 'ne', fieldId, value: Number.NaN }) : TRUE;
    default:
      return unreachable(op, 'operator');
  }
}

const orNull = (fieldId: number, predicate: Predicate): Predicate =>
  combine('or', [{ kind: 'isNull', fieldId }, predicate]);

const OPS: Partial<Record<ComparisonOp, CompareOp>> = {
  lt: 'lt',
  'lt-eq': 'le',
  gt: 'gt',
  'gt-eq': 'ge',
  eq: 'eq',
  'not-eq': 'ne',
};

function bindComparison(op: ComparisonOp, column: BoundColumn, json: Json): Predicate {
  const { fieldId, type } = column;
  if (op === 'starts-with' || op === 'not-starts-with') return bindPrefix(op === 'starts-with', column, json);
  const value = readLiteral(type, json);
  const compare = OPS[op];
  if (value === undefined || compare === undefined) return TRUE;
  if (type.kind === 'float' && typeof value === 'number') return compareFloat32(compare, fieldId, value);
  const predicate: Predicate = { kind: 'compare', op: compare, fieldId, value };
  return compare === 'ne' ? orNull(fieldId, predicate) : predicate;
}

/** Some engines round the value to the column's type, others widen the column; the predicate holds for both. */
function compareFloat32(op: CompareOp, fieldId: number, value: number): Predicate {
  const rounded = Math.fround(value);
  if (rounded === value || Number.isNaN(value)) {
    const predicate: Predicate = { kind: 'compare', op, fieldId, value };
    return op === 'ne' ? orNull(fieldId, predicate) : predicate;
  }
  if (op === 'ne') return TRUE;
  if (op === 'eq') return { kind: 'in', fieldId, values: [value, rounded] };
  const isUpper = op === 'lt' || op === 'le';
  const widest = isUpper ? Math.max(value, rounded) : Math.min(value, rounded);
  return { kind: 'compare', op: isUpper ? 'le' : 'ge', fieldId, value: widest };
}

function bindSet(isIn: boolean, { fieldId, type }: BoundColumn, list: readonly Json[]): Predicate {
  const values: Literal[] = [];
  for (const json of list) {
    const value = readLiteral(type, json);
    if (value === undefined) return TRUE;
    values.push(value);
    if (type.kind === 'float') values.push(Math.fround(value as number));
  }
  if (isIn) return values.length === 0 ? FALSE : { kind: 'in', fieldId, values };
  if (type.kind === 'float' && values.some((value) => Math.fround(value as number) !== value)) return TRUE;
  const others = values.map((value): Predicate => ({ kind: 'compare', op: 'ne', fieldId, value }));
  return values.length === 0 || values.length > NOT_IN_MAX ? TRUE : orNull(fieldId, combine('and', others));
}

/** Maximum length of a `not-in` list that is used: it only excludes files that hold a single value. */
const NOT_IN_MAX = 200;

function bindPrefix(starts: boolean, { fieldId, type }: BoundColumn, json: Json): Predicate {
  if (type.kind !== 'string') throw invalid('starts-with needs a column of strings');
  const prefix = readLiteral(type, json);
  if (typeof prefix !== 'string') throw invalid('starts-with needs a string');
  if (starts) return { kind: 'startsWith', fieldId, prefix };
  if (prefix === '') return { kind: 'isNull', fieldId };
  // The strings with a prefix are those from the prefix up to the next one.
  const outside: Predicate[] = [{ kind: 'compare', op: 'lt', fieldId, value: prefix }];
  const next = nextPrefix(prefix);
  if (next !== undefined) outside.push({ kind: 'compare', op: 'ge', fieldId, value: next });
  return orNull(fieldId, combine('or', outside));
}

/** Returns the least string above all those that start with `prefix`; undefined when there is none. */
function nextPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (char) => char.codePointAt(0) ?? 0);
  for (let i = points.length - 1; i >= 0; i -= 1) {
    const point = points[i] ?? 0;
    if (point >= 0x10ffff) continue;
    // Surrogates are not characters.
    const next = point === 0xd7ff ? 0xe000 : point + 1;
    return String.fromCodePoint(...points.slice(0, i), next);
  }
  return undefined;
}

const invalid = (why: string): SkeinError => new SkeinError('INVALID_REQUEST', `Cannot bind expression: ${why}`);
