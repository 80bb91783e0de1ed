import { SkeinError } from '#shared/error.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import { changeCatalog, RENAME_TIMEOUT_MS } from '../../catalog-client/change-catalog.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { takeIfExists } from '../clause/exists.ts';
import type { Command } from '../command.ts';
import { requireSchema } from '../require-schema.ts';
import { isAbsentSchema, namespaceParam, schemaPlace, type SchemaPlace } from './schema-place.ts';

type AlterSchema = { readonly ifExists: boolean; readonly name: ObjectName; readonly newName: ObjectName };

/** `ALTER SCHEMA [IF EXISTS] [catalog.]schema RENAME TO schema`; the new name has all its levels, such as `"a.b"` */
export const alterSchema: Command<AlterSchema> = {
  words: ['ALTER SCHEMA'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const ifExists = takeIfExists(reader);
    const name = reader.name('a schema', 2);
    if (!reader.takeWords('RENAME', 'TO')) throw reader.expected('RENAME TO');
    const newName = reader.name('a schema', 2);
    checkIdentifier(newName.parts.at(-1) ?? '', newName.position);
    reader.end();
    return { ifExists, name, newName };
  },
  action: () => 'schema.rename',
  async run({ ifExists, name, newName }, context) {
    const find = async () => {
      const { catalog, schema } = await schemaPlace(name, context);
      return { catalog, levels: await requireSchema(context, catalog, schema) };
    };
    const found = await withNamePosition(name, find()).catch((error: unknown) => {
      if (!ifExists || !isAbsentSchema(error)) throw error;
    });
    if (found !== undefined) await withNamePosition(newName, rename(found, newName, context));
    return context.answer(statusResult('ALTER SCHEMA'));
  },
};

type Found = Pick<SchemaPlace, 'catalog'> & { readonly levels: readonly string[] };

async function rename({ catalog, levels }: Found, newName: ObjectName, context: CommandContext): Promise<void> {
  const { parts, position } = newName;
  const inCatalog = parts.length === 2 ? parts : [catalog, ...parts];
  const to = await schemaPlace({ parts: inCatalog, position }, context);
  if (to.catalog !== catalog) throw new SkeinError('NOT_SUPPORTED', 'a schema stays in its catalog');
  const taken = await context.names.schema(context.caller.claims, catalog, to.schema);
  if (taken !== undefined && namespaceParam(taken) !== namespaceParam(levels)) {
    throw new SkeinError('SCHEMA_EXISTS', `schema ${catalog}.${to.schema} exists already`);
  }
  const params = { prefix: catalog, namespace: namespaceParam(levels) };
  const body = { destination: to.schema.split('.') };
  await changeCatalog(context, { id: 'renameNamespace', params, body, timeoutMs: RENAME_TIMEOUT_MS });
}
