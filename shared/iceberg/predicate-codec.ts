import { unreachable } from '#shared/must.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { CompareOp, Literal, Predicate } from './predicate.ts';

/**
 * Encodes a predicate as plain JSON that `JSON.stringify` and `JSON.parse` preserve: a literal without a JSON form becomes an object with
 * one tag, `{"$int": "34"}` (every bigint, also a small one), `{"$hex": "00ff"}`, `{"$float": "NaN"}` (also infinities and -0).
 */
export function encodePredicate(predicate: Predicate): Json {
  switch (predicate.kind) {
    case 'true':
    case 'false':
    case 'startsWith':
    case 'isNull':
    case 'notNull':
      return predicate;
    case 'and':
    case 'or':
      return { kind: predicate.kind, children: predicate.children.map(encodePredicate) };
    case 'compare':
      return { ...predicate, value: encodeLiteral(predicate.value) };
    case 'in':
      return { ...predicate, values: predicate.values.map(encodeLiteral) };
    default:
      return unreachable(predicate);
  }
}

/** Decodes the output of `encodePredicate`. @throws Error on any other document */
export function decodePredicate(json: Json): Predicate {
  const node = json as JsonObject;
  const fieldId = node['fieldId'] as number;
  const kind = node['kind'] as Predicate['kind'];
  switch (kind) {
    case 'true':
    case 'false':
      return { kind };
    case 'startsWith':
      return { kind, fieldId, prefix: node['prefix'] as string };
    case 'isNull':
    case 'notNull':
      return { kind, fieldId };
    case 'and':
    case 'or':
      return { kind, children: (node['children'] as readonly Json[]).map(decodePredicate) };
    case 'compare':
      return { kind, op: node['op'] as CompareOp, fieldId, value: decodeLiteral(node['value'] ?? null) };
    case 'in':
      return { kind, fieldId, values: (node['values'] as readonly Json[]).map(decodeLiteral) };
    default:
      return unreachable(kind, 'predicate');
  }
}

function encodeLiteral(value: Literal): Json {
  if (typeof value === 'bigint') return { $int: value.toString() };
  if (value instanceof Uint8Array) return { $hex: Buffer.from(value).toString('hex') };
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0))) {
    return { $float: Object.is(value, -0) ? '-0' : String(value) };
  }
  return value;
}

function decodeLiteral(json: Json): Literal {
  if (typeof json === 'boolean' || typeof json === 'number' || typeof json === 'string') return json;
  const tagged = json as { readonly $int?: string; readonly $hex?: string; readonly $float?: string } | null;
  if (tagged?.$int !== undefined) return BigInt(tagged.$int);
  if (tagged?.$hex !== undefined) return Uint8Array.from(Buffer.from(tagged.$hex, 'hex'));
  if (tagged?.$float !== undefined) return Number(tagged.$float);
  throw new Error(`not a literal: ${JSON.stringify(json)}`);
}
