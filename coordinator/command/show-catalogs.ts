import { onePage } from '../catalog-client/pages.ts';
import { takeLike } from './like.ts';
import { listing } from './listing.ts';
import { rowsCommand } from './rows-command.ts';

/** `SHOW CATALOGS [LIKE pattern]` */
export const showCatalogs = rowsCommand<{ readonly like: string | null }>({
  words: ['SHOW CATALOGS', 'SHOW DATABASES'],
  queryType: 'show',
  timeout: 'coordinator',
  parse(reader) {
    reader.words(2);
    const like = takeLike(reader);
    reader.end();
    return { like };
  },
  action: () => 'catalog.list',
  async rows({ like }, { catalog, caller }) {
    const names = await catalog.listCatalogs(caller.claims, 'catalog.list');
    return listing('catalog_name', onePage(names), like);
  },
});
