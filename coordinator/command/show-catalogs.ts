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
  scope: () => 'catalog:read',
  async run({ like }, { names, caller, answerPages }) {
    return answerPages(listing('catalog_name', onePage(await names.catalogs(caller.claims.tenant)), like));
  },
};
