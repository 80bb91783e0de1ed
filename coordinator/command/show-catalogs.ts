import { onePage } from '../catalog-client/pages.ts';
import type { Command } from './command.ts';
import { takeLike } from './like.ts';
import { listing } from './listing.ts';

/** `SHOW CATALOGS [LIKE pattern]` */
export const showCatalogs: Command<{ readonly like: string | null }> = {
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
  async run({ like }, { catalog, caller, answerPages }) {
    const names = await catalog.listCatalogs(caller.claims, 'catalog.list');
    return answerPages(listing('catalog_name', onePage(names), like));
  },
};
