import { SkeinError } from '#shared/error.ts';
import { didYouMean } from '#shared/nearest-name.ts';
import type { CommandContext } from '../operation/command-context.ts';

/** The levels of a schema as they are stored. @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND */
export async function requireSchema(
  context: CommandContext,
  catalog: string,
  name: string,
): Promise<readonly string[]> {
  const schema = await context.names.schema(context.caller.claims, catalog, name);
  if (schema === undefined) throw await noSchema(context, catalog, name);
  return schema;
}

/** The error for a schema that does not exist, with a similar name as a hint. */
export async function noSchema({ tables }: CommandContext, catalog: string, schema: string): Promise<SkeinError> {
  const near =
    catalog === ''
      ? undefined
      : await tables.nearest({ catalog, namespace: schema.split('.'), table: '' }, 'SCHEMA_NOT_FOUND');
  const name = `${catalog === '' ? '' : `${catalog}.`}${schema}`;
  return new SkeinError('SCHEMA_NOT_FOUND', `schema ${name} does not exist${didYouMean(near)}`);
}
