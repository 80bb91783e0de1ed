import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BrowsedObject } from './browse-operations.ts';
import { keyOf, objectPage, pageInTurns, sortedPage } from './objects.ts';

const object = (name: string, schema: string | null, kind: BrowsedObject['kind'] = 'table'): BrowsedObject => ({
  kind,
  name,
  catalog: 'lake',
  schema,
  relation: null,
  type: null,
  comment: null,
});

/** All pages, one behind the other. */
function pages(objects: readonly BrowsedObject[], limit: number): readonly BrowsedObject[] {
  const found: BrowsedObject[] = [];
  for (let after: string | undefined; ;) {
    const { objects: some, more } = objectPage(objects, after, limit);
    found.push(...some);
    const last = some.at(-1);
    if (!more || last === undefined) return found;
    after = keyOf(last);
  }
}

test('pages of any size have every object once, in order', () => {
  const names = fc.uniqueArray(fc.tuple(fc.string({ maxLength: 3 }), fc.constantFrom('s', 't', null)), {
    selector: ([name, schema]) => JSON.stringify([name, schema]),
    maxLength: 40,
  });
  fc.assert(
    fc.property(names, fc.integer({ min: 1, max: 12 }), (given, limit) => {
      const objects = given.map(([name, schema]) => object(name, schema));
      const inOrder = objects.toSorted((a, b) =>
        a.name === b.name ? ((a.schema ?? '') < (b.schema ?? '') ? -1 : 1) : a.name < b.name ? -1 : 1,
      );
      expect(pages(objects, limit)).toEqual(inOrder);
    }),
  );
});

test.each(['x', '{}', '[1,null,"table"]', '["a"]'])('a page behind %s is refused: it is no place', (after) => {
  expect(() => objectPage([], after, 1)).toThrow('next');
});

test('a page in another order has the whole list behind it, and what has no value comes last', () => {
  const rows = [3, null, 10, 3].map((count, i): BrowsedObject => {
    const details = { owner: null, created: null, changed: null, rows: count, bytes: null, has_policies: false };
    return { ...object(`t${i}`, 's'), details };
  });
  const names = (descending: boolean, offset: number): readonly string[] =>
    sortedPage(rows, { sort: 'rows', descending, offset, limit: 3 }).objects.map(({ name }) => name);
  expect(names(false, 0)).toEqual(['t0', 't3', 't2']);
  expect(names(false, 3)).toEqual(['t1']);
  expect(names(true, 0)).toEqual(['t2', 't0', 't3']);
  expect(sortedPage(rows, { sort: 'rows', limit: 3 })).toMatchObject({ total: 4, more: true });
});

test('columns of one name in many tables are on pages, too, each once', () => {
  const columns = ['a', 'b', 'c', 'd', 'e'].map((relation) => ({ ...object('id', 's', 'column'), relation }));
  expect(pages(columns, 2)).toEqual(columns);
});

test('a search of very many lets others have their turn, and ends with its signal', async () => {
  const ending = new AbortController();
  function* slow(): Generator<readonly BrowsedObject[]> {
    for (let i = 0; i < 100; i += 1) {
      const until = performance.now() + 1;
      while (performance.now() < until);
      yield [object(`t${String(i).padStart(3, '0')}`, 's')];
    }
  }
  let turns = 0;
  const other = setInterval(() => (turns += 1), 0);
  const { objects, more } = await pageInTurns(slow(), { after: undefined, limit: 2 }, ending.signal);
  clearInterval(other);
  expect([objects.map(({ name }) => name), more]).toEqual([['t000', 't001'], true]);
  expect(turns).toBeGreaterThan(3);
  ending.abort(new Error('it ends'));
  await expect(pageInTurns(slow(), { after: undefined, limit: 2 }, ending.signal)).rejects.toThrow('it ends');
});
