import { SkeinError } from '#shared/error.ts';
import { loadOneTable } from '../../catalog-client/catalog-browser.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import { requireTableAction } from '../../binding/table-source.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { skipDropBehaviour } from '../clause/drop-behaviour.ts';
import { takeIfExists } from '../clause/exists.ts';
import type { Command } from '../command.ts';
import { requireUnpoliced } from '../../operation/policed-table.ts';
import { qualify } from '../../operation/qualify.ts';
import { tableParams } from './table-place.ts';

type DropTable = { readonly ifExists: boolean; readonly name: ObjectName; readonly purge: boolean };

/** `DROP TABLE [IF EXISTS] name [CASCADE | RESTRICT] [PURGE]` */
export const dropTable: Command<DropTable> = {
  words: ['DROP TABLE'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const ifExists = takeIfExists(reader);
    const name = reader.name('a table', 3);
    skipDropBehaviour(reader);
    const purge = reader.takeWord('PURGE');
    reader.end();
    return { ifExists, name, purge };
  },
  action: () => 'table.drop',
  async run({ ifExists, name, purge }, context) {
    const drop = async (): Promise<void> => {
      const table = await loadOneTable(context.tables, await qualify(name, context), context.signal);
      requireTableAction(table, 'table.drop');
      if (purge && table.kind === 'found') requireUnpoliced(table, 'PURGE');
      const query = { purgeRequested: String(purge) };
      const operation = { id: 'dropTable', params: tableParams(table.name), query };
      await changeCatalog(context, operation);
    };
    await withNamePosition(name, drop()).catch((error: unknown) => {
      if (!ifExists || !ABSENT.has(SkeinError.of(error).code)) throw error;
    });
    return context.answer(statusResult('DROP TABLE'));
  },
};

const ABSENT: ReadonlySet<string> = new Set(['TABLE_NOT_FOUND', 'SCHEMA_NOT_FOUND', 'CATALOG_NOT_FOUND']);
