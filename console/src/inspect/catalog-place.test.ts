import { expect, it } from 'vitest';
import { addressOf, apiPath, placeOf } from './catalog-place.ts';

it.each([
  ['lake', 'a', 't'],
  ['lake', 'a.b', 'with / slash'],
  ['100%', 'ä ö', 'x?y#z&<b>'],
  ['lake', '😀', 'quote " and \''],
])('the address of %s, %s, %s leads back to it', (catalog, schema, object) => {
  const { pathname, search, hash } = new URL(`http://host/console${addressOf(catalog, schema, object, 'History')}`);
  expect(hash).toBe('');
  expect(placeOf({ pathname, search })).toEqual({ catalog, schema, object, tab: 'History' });
});

it('a broken address is a place all the same', () => {
  expect(placeOf({ pathname: '/console/catalog/%zz', search: '' })).toMatchObject({ catalog: '%zz', schema: null });
  expect(placeOf({ pathname: '/console/catalog', search: '' })).toMatchObject({ catalog: null });
});

it('levels of a schema are joined by the unit separator in paths of the API', () => {
  expect(apiPath('lake', 'a.b')).toBe('/api/catalogs/lake/namespaces/a%1Fb');
});
