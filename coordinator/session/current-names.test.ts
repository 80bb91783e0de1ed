import { expect, test } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import type { Pages } from '../catalog-client/pages.ts';
import { NameFinder } from './current-names.ts';

async function* schemas(): Pages<readonly string[]> {
  yield [['SALES'], ['other']];
  yield [['sales'], ['sales', 'EU']];
}

const finder = new NameFinder({
  catalog: { listNamespaces: schemas } as unknown as CatalogClient,
  defaultCatalog: 'lake',
  defaultSchema: 'default',
  clock: systemClock,
});

test.each([
  ['sales', ['sales']],
  ['SALES', ['SALES']],
  ['Sales', ['SALES']],
  ['sales.eu', ['sales', 'EU']],
  ['none', undefined],
])('schema %s is found exactly first, then without case, on whichever page it stands', async (name, levels) => {
  expect(await finder.schema({} as Principal, 'lake', name)).toEqual(levels);
});
