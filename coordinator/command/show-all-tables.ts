import { listAllTables, type TableEntry } from '../catalog-client/catalog-browser.ts';
import type { Pages } from '../catalog-client/pages.ts';
import { pagedTextResult } from '../operation/answer.ts';
import { rowsCommand } from './rows-command.ts';

/** `SHOW ALL TABLES`: the tables of every catalog. DuckDB's columns `column_names`, `column_types` and `temporary` are not there. */
export const showAllTables = rowsCommand<null>({
  words: ['SHOW ALL TABLES'],
  queryType: 'show',
  timeout: 'coordinator',
  parse(reader) {
    reader.words(3);
    reader.end();
    return null;
  },
  action: () => 'table.list',
  async rows(_input, { catalog: client, caller }) {
    const { claims } = caller;
    const catalogs = await client.findCatalogs(claims);
    const rows = tablesOf(catalogs, (catalog) => listAllTables(client, claims, catalog));
    return pagedTextResult(['database', 'schema', 'name'], rows);
  },
});

async function* tablesOf(
  catalogs: readonly string[],
  listOf: (catalog: string) => Pages<TableEntry>,
): Pages<readonly string[]> {
  for (const catalog of catalogs) {
    for await (const tables of listOf(catalog)) yield tables.map(({ schema, name }) => [catalog, schema, name]);
  }
}
