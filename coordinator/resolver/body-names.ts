import { SkeinError } from '#shared/error.ts';
import { isObject } from '#shared/iceberg/type.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { CONTEXT_FUNCTIONS } from '../binding/function-policy.ts';
import { textOf } from '../plan/json-node.ts';
import type { BodyNames } from '../binding/query-references.ts';

/** Functions of the statement's context that the body of a policy may call: who reads. All others follow settings of the reader. */
const OF_THE_READER: ReadonlySet<string> = new Set([
  'current_role',
  'current_tenant',
  'current_user',
  'is_role_in_session',
]);

/** Functions that give another value each time, or a time whose parts and text follow the time zone of the reader. */
const REFUSED: ReadonlySet<string> = new Set([
  'gen_random_uuid',
  'make_timestamptz',
  'random',
  'strptime',
  'timezone',
  'to_timestamp',
  'try_strptime',
  'uuid',
  'uuidv4',
  'uuidv7',
]);

/** Types whose conversions follow the time zone of the session, as DuckDB names them in syntax trees. */
export const ZONED_TYPES: ReadonlySet<string> = new Set(['TIMESTAMP WITH TIME ZONE', 'TIME WITH TIME ZONE']);

/**
 * Reads the names of a policy's body from its syntax tree. @returns the columns that it names, and the names that it gives
 * @throws NOT_SUPPORTED for what follows settings of the reader or differs from call to call; positions are byte offsets
 */
export function bodyNames(tree: Json): BodyNames {
  const columns: { readonly location: number; readonly parts: readonly string[] }[] = [];
  const given = new Set<string>();
  const walk = (value: Json | undefined, outer: number): void => {
    if (Array.isArray(value)) for (const one of value as readonly Json[]) walk(one, outer);
    if (!isObject(value)) return;
    const node: JsonObject = value;
    const location = typeof node['query_location'] === 'number' ? node['query_location'] : outer;
    const { alias, key } = node;
    for (const name of [alias, key, node['cte_name']]) {
      if (typeof name === 'string' && name !== '') given.add(foldIdentifier(name));
    }
    const kind = node['class'];
    if (kind === 'FUNCTION' || kind === 'WINDOW') requireSteady(textOf(node['function_name']), location);
    if (kind === 'CAST') requireZoneless(node['cast_type'], location);
    if (kind === 'COLUMN_REF') {
      const parts = node['column_names'] as readonly string[];
      const [first = ''] = parts;
      // Such a function needs no brackets.
      if (parts.length === 1 && CONTEXT_FUNCTIONS.has(foldIdentifier(first))) requireSteady(first, location);
      columns.push({ location, parts });
    }
    if (node['type'] === 'BASE_TABLE') given.add(foldIdentifier(textOf(node['table_name'])));
    for (const child of Object.values(node)) walk(child, location);
  };
  walk(tree, 0);
  return { columns, given: [...given] };
}

function requireSteady(written: string, position: number): void {
  const name = foldIdentifier(written);
  const isOther = CONTEXT_FUNCTIONS.has(name) && !OF_THE_READER.has(name);
  if (!isOther && !REFUSED.has(name)) return;
  throw new SkeinError('NOT_SUPPORTED', `the body of a policy cannot call ${name}`, { position });
}

function requireZoneless(type: Json | undefined, position: number): void {
  const name = isObject(type ?? null) ? textOf((type as JsonObject)['id']) : '';
  if (!ZONED_TYPES.has(name)) return;
  throw new SkeinError(
    'NOT_SUPPORTED',
    `the body of a policy cannot convert to ${name}: that follows the time zone of the reader`,
    {
      position,
    },
  );
}
