import type { Json, JsonObject } from '#shared/json.ts';
import { decodeConstant } from './decode-constant.ts';
import type { Expression } from '../plan/expression.ts';
import { textOf } from '../plan/json-node.ts';

/**
 * The arguments that DuckDB's binder takes out of a call and keeps in the function's own data: constants such as a separator or the
 * fractions of a quantile. Null when an argument was removed that this file cannot decode.
 */
export function decodeErased(node: JsonObject): readonly Expression[] | null {
  const original = (node['original_arguments'] ?? []) as readonly JsonObject[];
  const children = (node['children'] ?? []) as readonly JsonObject[];
  const data = node['function_data'] as JsonObject | undefined;
  const name = textOf(node['name']);
  if (original.length > children.length) {
    const isList = isListType(original[children.length]);
    return data === undefined ? null : (ERASED[name]?.(data, isList, original.length - children.length) ?? null);
  }
  // For a DECIMAL DuckDB binds another function, which does not keep the original arguments.
  if (data === undefined || !FRACTIONS.test(name)) return [];
  const isList =
    isListType(node['return_type'] as JsonObject) && !isListType(children[0]?.['return_type'] as JsonObject);
  return ERASED[name]?.(data, isList, name === 'reservoir_quantile' ? 2 : 1) ?? null;
}

/**
 * `list_aggregate` and similar functions keep the bound aggregate; the arguments after its name are further arguments of that aggregate.
 */
export function decodeListAggregate(node: JsonObject): readonly Expression[] | null {
  const data = (node['function_data'] as JsonObject | undefined)?.['bind_data'] as JsonObject | undefined;
  const call = data?.['aggr_expr'] as JsonObject | undefined;
  if (call === undefined) return [];
  const [, ...further] = (call['children'] ?? []) as readonly JsonObject[];
  if (further.some((one) => one['expression_class'] !== 'BOUND_CONSTANT')) return null;
  const erased = decodeErased(call);
  return erased === null ? null : [...further.map(({ value }) => decodeConstant(value)), ...erased];
}

const FRACTIONS = /^(?:approx_|reservoir_)?quantile(?:_cont|_disc)?$/;
const isListType = (type: JsonObject | undefined): boolean => type?.['id'] === 'LIST' || type?.['id'] === 'ARRAY';

type Erased = (data: JsonObject, isList: boolean, count: number) => readonly Expression[] | null;

const ERASED: Readonly<Record<string, Erased>> = {
  string_agg: ({ separator }) => [constant(separator ?? null, 'VARCHAR')],
  group_concat: ({ separator }) => [constant(separator ?? null, 'VARCHAR')],
  listagg: ({ separator }) => [constant(separator ?? null, 'VARCHAR')],
  bitstring_agg: ({ min, max }) => [decodeConstant(min), decodeConstant(max)],
  quantile: quantiles,
  quantile_cont: quantiles,
  quantile_disc: quantiles,
  approx_quantile: ({ quantiles: fractions }, isList) => floats(fractions, isList, 'FLOAT'),
  reservoir_quantile: ({ quantiles: fractions, sample_size: size }, isList, count) => [
    ...floats(fractions, isList, 'DOUBLE'),
    ...(count > 1 ? [constant(size ?? null, 'INTEGER')] : []),
  ],
};

const constant = (value: Json, name: string): Expression => ({
  kind: 'constant',
  value,
  type: { kind: 'scalar', name },
});

const listOf = (children: readonly Expression[]): Expression => {
  const [first] = children;
  const element = first?.kind === 'constant' ? first.type : ({ kind: 'scalar', name: 'DOUBLE' } as const);
  return { kind: 'function', name: 'list_value', children, type: { kind: 'list', element } };
};

/** For a DECIMAL, DuckDB accepts a list in `reservoir_quantile` and uses its first fraction only. */
function floats(fractions: Json | undefined, isList: boolean, type: string): readonly Expression[] {
  const values = ((fractions ?? []) as readonly Json[]).map((value) => constant(value, type));
  return isList ? [listOf(values)] : values.slice(0, 1);
}

/** A fraction counts from the other end when the order is descending: SQL says it with a minus, but has no -0. */
function quantiles({ quantiles: fractions, desc }: JsonObject, isList: boolean): readonly Expression[] | null {
  const values = ((fractions ?? []) as readonly Json[]).map(decodeConstant);
  if (desc !== true) return isList ? [listOf(values)] : values;
  const isZero = (one: Expression): boolean => one.kind === 'constant' && Number(one.value) === 0;
  if (values.every(isZero)) {
    const ones = values.map(() => constant(1, 'DOUBLE'));
    return isList ? [listOf(ones)] : ones;
  }
  if (values.some(isZero)) return null;
  const negative = values.map((one): Expression =>
    one.kind === 'constant' && (typeof one.value === 'number' || typeof one.value === 'bigint')
      ? { ...one, value: -one.value }
      : one,
  );
  return isList ? [listOf(negative)] : negative;
}
