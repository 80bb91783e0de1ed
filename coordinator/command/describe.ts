import type { ObjectName, TextSpan } from '../statement/statement.ts';
import { paged } from '../operation/answer.ts';
import { describeResult, describeTable } from './describe-table.ts';
import { startsQuery } from './query-words.ts';
import { rowsCommand } from './rows-command.ts';

type Describe = { readonly query: TextSpan } | { readonly table: ObjectName };

/** `DESCRIBE [TABLE] t` and `DESCRIBE query` */
export const describe = rowsCommand<Describe>({
  words: ['DESCRIBE', 'DESC'],
  queryType: 'show',
  timeout: 'session',
  parse(reader) {
    reader.word();
    if (startsQuery(reader)) return { query: reader.takeRest() };
    const second = reader.peekWord();
    if (second === 'VIEW' && !reader.atEnd(1) && !reader.peekSymbol('.', 1)) {
      throw reader.error('NOT_SUPPORTED', 'DESCRIBE VIEW is not served');
    }
    reader.takeWord('TABLE');
    const table = reader.name('a table', 3);
    reader.end();
    return { table };
  },
  action: () => 'table.describe',
  async describe(input, { queries }) {
    const { columns } = describeResult([]);
    return { columns, parameters: 'query' in input ? (await queries.describe(input.query)).parameters : new Map() };
  },
  async rows(input, context) {
    if ('table' in input) return paged(await describeTable(input.table, context));
    const columns = await context.queries.columns(input.query);
    return paged(describeResult(columns.map(({ name, typeName }) => [name, typeName, 'YES', null])));
  },
});
