import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { takeIfExists } from '../clause/exists.ts';
import type { Command } from '../command.ts';
import { requireSchema } from '../require-schema.ts';
import { isAbsentSchema, namespaceParam, schemaPlace } from './schema-place.ts';

type DropSchema = { readonly ifExists: boolean; readonly name: ObjectName };

/** `DROP SCHEMA [IF EXISTS] [catalog.]schema [RESTRICT]` */
export const dropSchema: Command<DropSchema> = {
  words: ['DROP SCHEMA'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const ifExists = takeIfExists(reader);
    const name = reader.name('a schema', 2);
    if (reader.peekWord() === 'CASCADE') {
      throw reader.error('NOT_SUPPORTED', 'DROP SCHEMA ... CASCADE is not served: drop its tables first');
    }
    reader.takeWord('RESTRICT');
    reader.end();
    return { ifExists, name };
  },
  action: () => 'schema.drop',
  async run({ name, ifExists }, context) {
    const drop = async (): Promise<void> => {
      const { catalog, schema } = await schemaPlace(name, context);
      const levels = await requireSchema(context, catalog, schema);
      const operation = { id: 'dropNamespace', params: { prefix: catalog, namespace: namespaceParam(levels) } };
      await changeCatalog(context, operation);
    };
    await withNamePosition(name, drop()).catch((error: unknown) => {
      if (!ifExists || !isAbsentSchema(error)) throw error;
    });
    return context.answer(statusResult('DROP SCHEMA'));
  },
};
