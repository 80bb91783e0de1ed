import { SkeinError } from '#shared/error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { parseTransform, type Transform } from './transform.ts';
import { isObject } from './type.ts';

/**
 * Iceberg's expressions as JSON (REST specification, `Predicate`): filters that clients send. They are parsed here without a schema;
 * `bindExpression` binds them to one. Both spellings are accepted: the current one (`child`, `left`/`right`, `{"type": "reference"}`,
 * `{"type": "literal"}`) and the older one that clients still send (`term`, `value`, a bare name, a bare value).
 */
export type Expression =
  | { readonly kind: 'true' | 'false' }
  | { readonly kind: 'and' | 'or'; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'not'; readonly child: Expression }
  | { readonly kind: UnaryOp; readonly term: Term }
  | { readonly kind: ComparisonOp; readonly term: Term; readonly value: Json }
  | { readonly kind: SetOp; readonly term: Term; readonly values: readonly Json[] }
  /** A comparison of two columns, or with an unknown function: it prunes nothing. */
  | { readonly kind: 'opaque' };

/** A column, or a function of it. `transform` is absent for the column itself; `opaque` is a function of columns. */
export type Term =
  | { readonly kind: 'column'; readonly column: string | number; readonly transform?: Transform }
  | { readonly kind: 'opaque' };

const UNARY = ['is-null', 'not-null', 'is-nan', 'not-nan'] as const;
const COMPARISON = ['lt', 'lt-eq', 'gt', 'gt-eq', 'eq', 'not-eq', 'starts-with', 'not-starts-with'] as const;
const SET = ['in', 'not-in'] as const;
export type UnaryOp = (typeof UNARY)[number];
export type ComparisonOp = (typeof COMPARISON)[number];
type SetOp = (typeof SET)[number];

/** Maps an operator to that of the same comparison with its sides swapped. */
const MIRRORED: Partial<Record<ComparisonOp, ComparisonOp>> = {
  lt: 'gt',
  'lt-eq': 'gt-eq',
  gt: 'lt',
  'gt-eq': 'lt-eq',
  eq: 'eq',
  'not-eq': 'not-eq',
};

/** Maximum nesting depth: parsing and binding recurse. */
const DEPTH_MAX = 150;
const NODES_MAX = 20_000;
/** Maximum number of values in all lists together. */
const VALUES_MAX = 100_000;

/** @throws INVALID_REQUEST when it is not an expression, too deep or too large. */
export function parseExpression(json: Json): Expression {
  return parse(json, { depth: 0, counts: { nodes: 0, values: 0 } });
}

type Place = { readonly depth: number; readonly counts: { nodes: number; values: number } };

function parse(json: Json | undefined, place: Place): Expression {
  if (place.depth > DEPTH_MAX) return refuse(`it is nested deeper than ${DEPTH_MAX}`);
  if (++place.counts.nodes > NODES_MAX) return refuse(`it has more than ${NODES_MAX} parts`);
  if (typeof json === 'boolean') return { kind: json ? 'true' : 'false' };
  if (!isObject(json)) return refuse('expected an object or a boolean');
  const type = typeOf(json);
  const inner = { ...place, depth: place.depth + 1 };
  if (type === 'true' || type === 'false') return { kind: type };
  if (type === 'literal' && typeof json['value'] === 'boolean') return { kind: json['value'] ? 'true' : 'false' };
  if (type === 'and' || type === 'or') {
    return { kind: type, left: parse(json['left'], inner), right: parse(json['right'], inner) };
  }
  if (type === 'not') return { kind: 'not', child: parse(json['child'], inner) };
  if (isOneOf(UNARY, type)) {
    if (json['value'] !== undefined || json['values'] !== undefined) return refuse(`${type} takes no value`);
    const term = parseTerm(json['child'] ?? json['term']);
    return term.kind === 'opaque' ? { kind: 'opaque' } : { kind: type, term };
  }
  if (isOneOf(COMPARISON, type)) return parseComparison(type, json);
  if (isOneOf(SET, type)) return parseSet(type, json, place);
  return refuse(`unknown type ${type.slice(0, 100)}`);
}

function typeOf(json: JsonObject): string {
  const type = json['type'];
  return typeof type === 'string' ? type.toLowerCase().replaceAll('_', '-') : refuse('it has no type');
}

const isOneOf = <T extends string>(list: readonly T[], text: string): text is T =>
  (list as readonly string[]).includes(text);

function parseComparison(kind: ComparisonOp, json: JsonObject): Expression {
  if (json['values'] !== undefined) return refuse(`${kind} takes one value`);
  const left = json['left'] ?? json['term'];
  const right = json['right'] ?? json['value'];
  if (left === undefined || right === undefined || right === null) return refuse(`${kind} has no term or no value`);
  // In the current spelling a bare value may be on either side, and so may the column.
  const isMirrored = json['left'] !== undefined && !isColumnar(left) && isColumnar(right);
  const [columnar, value, op] = isMirrored ? [right, left, MIRRORED[kind]] : [left, right, kind];
  if (op === undefined || isColumnar(value) || (json['left'] !== undefined && !isColumnar(columnar))) return OPAQUE;
  const term = parseTerm(columnar);
  return term.kind === 'opaque' ? OPAQUE : { kind: op, term, value: literalOf(value) };
}

const OPAQUE: Expression = { kind: 'opaque' };

/** Whether the JSON is a reference or a function, not a literal. */
const isColumnar = (json: Json): boolean => isObject(json) && json['type'] !== 'literal';

function parseSet(kind: SetOp, json: JsonObject, place: Place): Expression {
  if (json['value'] !== undefined) return refuse(`${kind} takes values`);
  const term = parseTerm(json['child'] ?? json['term']);
  const given = json['values'];
  const list = isObject(given) && given['type'] === 'literals' ? given['values'] : given;
  if (!Array.isArray(list)) return refuse(`${kind} has no list of values`);
  place.counts.values += list.length;
  if (place.counts.values > VALUES_MAX) return refuse(`it has more than ${VALUES_MAX} values`);
  const values = (list as readonly Json[]).map(literalOf);
  return term.kind === 'opaque' ? { kind: 'opaque' } : { kind, term, values };
}

function literalOf(json: Json): Json {
  const value = isObject(json) && json['type'] === 'literal' ? json['value'] : json;
  if (value === undefined || value === null || typeof value === 'object') return refuse('a literal is a single value');
  return value;
}

function parseTerm(json: Json | undefined): Term {
  if (typeof json === 'string') return { kind: 'column', column: json };
  if (!isObject(json)) return refuse('a term is a name or an object');
  const type = typeOf(json);
  if (type === 'reference') return { kind: 'column', column: columnOf(json) };
  if (type === 'transform') {
    const { transform } = json;
    if (typeof transform !== 'string') return refuse('a transform has no name');
    return transformed(parseTransform(transform.toLowerCase()), json['term']);
  }
  if (type === 'apply') return { kind: 'opaque' };
  return refuse(`a term cannot be of type ${type.slice(0, 100)}`);
}

function transformed(transform: Transform, of: Json | undefined): Term {
  const term = parseTerm(of);
  if (term.kind === 'opaque' || term.transform !== undefined) return refuse('a transform takes a column');
  return transform.kind === 'identity' ? term : { ...term, transform };
}

function columnOf(json: JsonObject): string | number {
  const name = json['name'] ?? json['term'];
  if (typeof name === 'string') return name;
  const id = json['id'];
  return typeof id === 'number' && Number.isInteger(id) ? id : refuse('a reference has no name or id');
}

function refuse(why: string): never {
  throw new SkeinError('INVALID_REQUEST', `Cannot parse expression: ${why}`);
}
