import type { JsonObject } from '#shared/json.ts';
import { boundedFamily, type BoundedFamily } from '#shared/sql/bounded-functions.ts';
import { textOf } from '../planner/json-node.ts';

/** Wildcards of a pattern that DuckDB matches in a time that grows with the text alone. */
const FEW_WILDCARDS = 2;
/** Characters that a constant may ask a text to be padded to. */
const SHORT_PAD = 10_000;

/**
 * The family by which a call of a query is bounded on workers; undefined when its arguments say that it is cheap: nearly every pattern is
 * a constant, and a statement without costly calls runs as DuckDB runs it. `call` is a node of the syntax tree.
 */
export function boundOf(name: string, call: JsonObject): BoundedFamily | undefined {
  const parameters = (call['children'] ?? []) as readonly JsonObject[];
  const family = boundedFamily(name, parameters.length);
  if (family === undefined || isCheap(family, name, parameters.map(constantOf))) return undefined;
  return family === 'map' && isList(parameters[0]) ? undefined : family;
}

function isCheap(family: BoundedFamily, name: string, constants: readonly (string | number | undefined)[]): boolean {
  const [first, second] = constants;
  switch (family) {
    case 'like':
      return typeof second === 'string' && isCheapPattern(name, second);
    case 'regexp':
      return typeof second === 'string' && !second.includes('{');
    case 'series':
      return constants.length < 3 || constants.every((constant) => typeof constant === 'number');
    case 'pad':
      return typeof second === 'number' && second <= SHORT_PAD;
    case 'zone':
      return typeof first === 'string';
    case 'distance':
    case 'lists':
    case 'map':
    case 'json':
    case 'split':
      return false;
    default:
      return family satisfies never;
  }
}

/** DuckDB divides a constant pattern of LIKE at its `%`, and looks for the parts; not so one with `_`, nor one of another operator. */
function isCheapPattern(name: string, pattern: string): boolean {
  if ((name === '~~' || name === '!~~') && !pattern.includes('_')) return true;
  return pattern.split(name === '~~~' ? '*' : '%').length - 1 <= FEW_WILDCARDS;
}

/** A list that is written out, as `MAP {...}` has them, is as long as its text. */
const isList = (node: JsonObject | undefined): boolean => textOf(node?.['function_name']) === 'list_value';

function constantOf(node: JsonObject): string | number | undefined {
  if (textOf(node['class']) !== 'CONSTANT') return undefined;
  const value = (node['value'] as JsonObject | undefined)?.['value'];
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}
