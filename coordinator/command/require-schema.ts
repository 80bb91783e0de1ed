import { SkeinError } from '#shared/error.ts';
import type { CommandContext } from './command.ts';

/** The levels of a schema as they are stored. @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND */
export async function requireSchema(
  { names, caller }: CommandContext,
  catalog: string,
  name: string,
): Promise<readonly string[]> {
  const schema = await names.schema(caller.claims.tenant, catalog, name);
  if (schema === undefined) throw noSchema(catalog, name);
  return schema;
}

export const noSchema = (catalog: string, schema: string): SkeinError =>
  new SkeinError('SCHEMA_NOT_FOUND', `schema ${catalog === '' ? '' : `${catalog}.`}${schema} does not exist`);
