import { schemaName } from '../catalog-client/catalog-browser.ts';
import { onePage, type Pages } from '../catalog-client/pages.ts';
import { takeLike } from './like.ts';
import { listing } from './listing.ts';
import { rowsCommand } from './rows-command.ts';

/** `catalog` is null for the session's. */
type ShowSchemas = { readonly catalog: string | null; readonly like: string | null };

/** `SHOW SCHEMAS [FROM catalog] [LIKE pattern]` */
export const showSchemas = rowsCommand<ShowSchemas>({
  words: ['SHOW SCHEMAS', 'SHOW NAMESPACES'],
  queryType: 'show',
  timeout: 'coordinator',
  parse(reader) {
    reader.words(2);
    let catalog: string | null = null;
    if (reader.takeWord('FROM') || reader.takeWord('IN')) {
      catalog = reader.takeName();
      if (catalog === null) throw reader.expected('a catalog');
    }
    const like = takeLike(reader);
    reader.end();
    return { catalog, like };
  },
  action: () => 'schema.list',
  async rows(input, { names, catalog: client, session, caller }) {
    const catalog =
      input.catalog === null
        ? (await names.current(caller, session)).catalog
        : await names.catalog(caller, input.catalog);
    const schemas =
      catalog === '' ? onePage<string>([]) : schemaNames(client.listNamespaces(caller.claims, catalog, 'schema.list'));
    return listing('schema_name', schemas, input.like);
  },
});

async function* schemaNames(pages: Pages<readonly string[]>): Pages<string> {
  for await (const namespaces of pages) yield namespaces.map(schemaName);
}
