import { expect, test } from 'vitest';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import type { Pages } from '../catalog-client/pages.ts';
import { NameFinder } from './current-names.ts';
import { EMPTY_SESSION } from './session.ts';

async function* schemas(): Pages<readonly string[]> {
  yield [['SALES'], ['other']];
  yield [['sales'], ['sales', 'EU']];
}

const finder = new NameFinder({
  catalog: { listNamespaces: schemas } as unknown as CatalogClient,
  defaultCatalog: 'lake',
  defaultSchema: 'default',
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

test('the default catalog of a tenant is that of its list as it is at the statement', async () => {
  let names: readonly string[] = ['a', 'b'];
  const now = new NameFinder({
    catalog: { findCatalogs: () => Promise.resolve(names) } as unknown as CatalogClient,
    defaultCatalog: 'lake',
    defaultSchema: 'default',
  });
  const caller = { claims: {} as TokenClaims };
  const current = async (): Promise<string> => (await now.current(caller, EMPTY_SESSION)).catalog;
  expect(await current()).toBe('a');
  names = ['b', 'lake'];
  expect(await current()).toBe('lake');
});
