import { listAllTables } from '../catalog-client/catalog-browser.ts';
import { textResult } from './answer.ts';
import type { Command } from './command.ts';

/** `SHOW ALL TABLES`: the tables of every catalog. DuckDB's columns `column_names`, `column_types` and `temporary` are not there. */
export const showAllTables: Command<null> = {
  words: ['SHOW ALL TABLES'],
  queryType: 'show',
  timeout: 'coordinator',
  parse(reader) {
    reader.words(3);
    reader.end();
    return null;
  },
  scope: () => 'table:read',
  async run(_input, { names, catalog: client, caller, answer }) {
    const { tenant } = caller.claims;
    const rows: string[][] = [];
    for (const catalog of await names.catalogs(tenant)) {
      for (const { schema, name } of await listAllTables(client, tenant, catalog)) rows.push([catalog, schema, name]);
    }
    return answer(textResult(['database', 'schema', 'name'], rows));
  },
};
