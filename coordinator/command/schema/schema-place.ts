import { SkeinError } from '#shared/error.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import type { CommandContext } from '../../operation/command-context.ts';

/** The catalog as it is stored, and the schema's name as it is written: `a.b` has the levels a and b. */
export type SchemaPlace = { readonly catalog: string; readonly schema: string };

/** Where `schema` or `catalog.schema` stands. @throws CATALOG_NOT_FOUND */
export async function schemaPlace(name: ObjectName, context: CommandContext): Promise<SchemaPlace> {
  const [first = '', second] = name.parts;
  if (second !== undefined) {
    return { catalog: await withNamePosition(name, context.names.catalog(context.caller, first)), schema: second };
  }
  const { catalog } = await context.names.current(context.caller, context.session);
  if (catalog === '') throw new SkeinError('CATALOG_NOT_FOUND', 'there is no catalog');
  return { catalog, schema: first };
}

/** The levels of a namespace as the path of a REST operation has them. */
export const namespaceParam = (levels: readonly string[]): string => levels.join('\u001f');

const ABSENT: ReadonlySet<string> = new Set(['SCHEMA_NOT_FOUND', 'CATALOG_NOT_FOUND']);

/** Whether a schema is not there, for `IF EXISTS`. */
export const isAbsentSchema = (error: unknown): boolean => ABSENT.has(SkeinError.of(error).code);
