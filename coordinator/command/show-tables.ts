import { SkeinError } from '#shared/error.ts';
import type { ObjectName } from '../statement/statement.ts';
import { takeLike } from './like.ts';
import { listing } from './listing.ts';
import { requireSchema } from './require-schema.ts';
import { rowsCommand } from './rows-command.ts';

/** `schema` is null for the session's; its parts are `schema` or `catalog.schema`. */
type ShowTables = { readonly schema: ObjectName | null; readonly like: string | null };

/** `SHOW TABLES [FROM [catalog.]schema] [LIKE pattern]` */
export const showTables = rowsCommand<ShowTables>({
  words: ['SHOW TABLES'],
  queryType: 'show',
  timeout: 'coordinator',
  parse(reader) {
    reader.words(2);
    const schema = reader.takeWord('FROM') || reader.takeWord('IN') ? reader.name('a schema', 2) : null;
    const like = takeLike(reader);
    reader.end();
    return { schema, like };
  },
  action: () => 'table.list',
  async rows(input, context) {
    const { claims } = context.caller;
    const current = await context.names.current(context.caller, context.session);
    const [first, second] = input.schema?.parts ?? [];
    const catalog =
      second === undefined || first === undefined
        ? current.catalog
        : await context.names.catalog(context.caller, first);
    if (catalog === '') throw new SkeinError('CATALOG_NOT_FOUND', 'there is no catalog');
    const wanted = second ?? first;
    const schema = wanted === undefined ? current.schema : await requireSchema(context, catalog, wanted);
    return listing('table_name', context.catalog.listTables(claims, catalog, schema, true), input.like);
  },
});
