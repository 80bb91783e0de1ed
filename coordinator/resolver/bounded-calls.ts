import { unreachable } from '#shared/must.ts';
import type { JsonObject } from '#shared/json.ts';
import { ARGUMENTS_MAX, boundedFamily, type BoundedFamily } from '#shared/sql/bounded-functions.ts';
import { textOf } from '../plan/json-node.ts';

/** A pattern with at most this many wildcards takes DuckDB time linear in the text. */
const FEW_WILDCARDS = 2;
/** A constant length of `lpad` or `rpad` up to this is cheap. */
const SHORT_PAD = 10_000;

/**
 * Returns the family of a costly call, whose work is bounded on workers; undefined when the arguments show that the call is cheap, as
 * nearly all do. A statement without costly calls runs as DuckDB runs it. `call` is a node of the syntax tree.
 */
export function boundOf(name: string, call: JsonObject): BoundedFamily | undefined {
  const parameters = (call['children'] ?? []) as readonly JsonObject[];
  const family = boundedFamily(name, parameters.length);
  if (family === undefined || isCheap(family, name, parameters.map(constantOf))) return undefined;
  return family === 'map' && isList(parameters[0]) ? undefined : family;
}

/** Functions that DuckDB calls with any number of arguments, and that are bounded. */
const OPEN_FUNCTIONS: ReadonlySet<string> = new Set(['json_merge_patch']);

/** Whether a call has more arguments than its bounded function takes. */
export const hasTooManyArguments = (name: string, call: JsonObject): boolean =>
  OPEN_FUNCTIONS.has(name) && ((call['children'] ?? []) as readonly JsonObject[]).length > ARGUMENTS_MAX;

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
    // The planner knows what it is compared with.
    case 'truncation':
      return true;
    case 'raise':
    case 'distance':
    case 'lists':
    case 'map':
    case 'json':
    case 'split':
      return false;
    default:
      return unreachable(family);
  }
}

/** DuckDB splits a constant LIKE pattern at its `%` and searches for the parts, except patterns with `_` and those of other operators. */
function isCheapPattern(name: string, pattern: string): boolean {
  if ((name === '~~' || name === '!~~') && !pattern.includes('_')) return true;
  return pattern.split(name === '~~~' ? '*' : '%').length - 1 <= FEW_WILDCARDS;
}

/** Whether a list is written out, as in `MAP {...}`: it is no longer than its text. */
const isList = (node: JsonObject | undefined): boolean => textOf(node?.['function_name']) === 'list_value';

function constantOf(node: JsonObject): string | number | undefined {
  if (textOf(node['class']) !== 'CONSTANT') return undefined;
  const value = (node['value'] as JsonObject | undefined)?.['value'];
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}
