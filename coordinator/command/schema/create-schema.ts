import { SkeinError } from '#shared/error.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { takeComment } from '../clause/comment.ts';
import { takeIfNotExists } from '../clause/exists.ts';
import { takeProperties, type Properties } from '../clause/properties.ts';
import type { Command } from '../command.ts';
import { schemaPlace } from './schema-place.ts';

type CreateSchema = {
  readonly ifNotExists: boolean;
  readonly name: ObjectName;
  readonly comment: string | null;
  readonly properties: Properties;
};

/** `CREATE SCHEMA [IF NOT EXISTS] [catalog.]schema [COMMENT 'text'] [WITH ('key' = 'value', ...)]` */
export const createSchema: Command<CreateSchema> = {
  words: ['CREATE SCHEMA'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const ifNotExists = takeIfNotExists(reader);
    const name = reader.name('a schema', 2);
    const comment = takeComment(reader);
    const properties = reader.takeWord('WITH') ? takeProperties(reader) : [];
    reader.end();
    return { ifNotExists, name, comment, properties };
  },
  action: () => 'schema.create',
  async run({ name, ifNotExists, comment, properties }, context) {
    const { catalog, schema } = await schemaPlace(name, context);
    const { claims } = context.caller;
    const create = async (): Promise<void> => {
      if ((await context.names.schema(claims, catalog, schema)) !== undefined) throw exists(catalog, schema);
      const given = { owner: claims.preferred_username, ...Object.fromEntries(properties) };
      const body = { namespace: schema.split('.'), properties: comment === null ? given : { ...given, comment } };
      const operation = { id: 'createNamespace', params: { prefix: catalog }, body };
      await changeCatalog(context, operation);
    };
    await withNamePosition(name, create()).catch((error: unknown) => {
      if (!ifNotExists || SkeinError.of(error).code !== 'SCHEMA_EXISTS') throw error;
    });
    return context.answer(statusResult('CREATE SCHEMA'));
  },
};

const exists = (catalog: string, schema: string): SkeinError =>
  new SkeinError('SCHEMA_EXISTS', `schema ${catalog}.${schema} exists already`);
