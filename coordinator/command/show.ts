import { SkeinError } from '#shared/error.ts';
import { didYouMean, nearestName } from '#shared/nearest-name.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { mayWriteByDefault, ownValue, shownSetting } from '../session/session.ts';
import { findSetting, isKnownSetting, isOwnName, SETTINGS } from '../session/settings.ts';
import type { ObjectName } from '../statement/statement.ts';
import { paged, textResult, type Answer } from '../operation/answer.ts';
import type { CommandContext } from '../operation/command-context.ts';
import { describeTable } from './describe-table.ts';
import { rowsCommand } from './rows-command.ts';

type Show = { readonly setting: string } | { readonly table: ObjectName };

/** `SHOW name`: the value of a setting; a name that is none is a table's, and means `DESCRIBE name`. */
export const show = rowsCommand<Show>({
  words: ['SHOW'],
  queryType: 'show',
  timeout: 'coordinator',
  parse(reader) {
    reader.word();
    const what = reader.peekWord();
    if (NOT_SERVED.has(what) && !reader.peekSymbol('.', 1)) {
      throw reader.error('NOT_SUPPORTED', `SHOW ${what} is not served`);
    }
    if (reader.takeWords('TIME', 'ZONE')) {
      reader.end();
      return { setting: 'timezone' };
    }
    if (reader.takeWords('TRANSACTION', 'ISOLATION', 'LEVEL')) {
      reader.end();
      return { setting: 'transaction_isolation' };
    }
    const name = reader.name('a setting or a table', 3);
    reader.end();
    const setting = foldIdentifier(name.parts.join('.'));
    return isKnownSetting(setting) ? { setting } : { table: name };
  },
  action: (input) => ('table' in input ? 'table.describe' : null),
  async rows(input, context) {
    const { session, config, transactions } = context;
    if ('table' in input) {
      const own = foldIdentifier(input.table.parts.join('.'));
      const value = isOwnName(own) ? ownValue(session, own) : undefined;
      return paged(value === undefined ? await describeNamed(input.table, context) : textResult([own], [[value]]));
    }
    const { name } = findSetting(input.setting);
    const isMode = name === 'transaction_read_only';
    const mayWrite = isMode && transactions.mayWrite(mayWriteByDefault(session, config));
    const value = isMode ? (mayWrite ? 'off' : 'on') : shownSetting(session, name, config);
    return paged(textResult([name], [[value]]));
  },
});

/** @throws TABLE_NOT_FOUND, SCHEMA_NOT_FOUND or CATALOG_NOT_FOUND, whose message names a setting with a similar name */
async function describeNamed(table: ObjectName, context: CommandContext): Promise<Answer> {
  try {
    return await describeTable(table, context);
  } catch (thrown) {
    const error = SkeinError.of(thrown);
    const name = table.parts.join('.');
    const near = error.entry.kind === 'user' ? nearestName(name, Object.keys(SETTINGS)) : undefined;
    if (near === undefined) throw error;
    throw new SkeinError(error.code, `no setting or table is called ${name}${didYouMean(near)}`, {
      position: table.position,
    });
  }
}

/** Words after SHOW that begin statements: those that no other command has taken are not served. A table with such a name must be quoted. */
const NOT_SERVED = new Set(
  `RESOURCE CREATE ROW MASKING SERVICE PERSONAL WEBHOOK VIEWS FUNCTIONS STATS PARTITIONS`.split(' '),
);
