import { expect, test } from 'vitest';
import { principalId, tenantId } from '#shared/id.ts';
import { RelationLists, type WantedPlaces } from './relation-lists.ts';

const principal = { tenant: tenantId('t'), sub: principalId('p') } as never;
const held = { period: 0, ms: 0 };

/** Lists over a catalog of the tables a.t1, a.t2 and b.t1, and what was asked of it. */
function listsOf(lease: { holds: boolean }): {
  lists: RelationLists;
  asked: Record<string, unknown>[];
  rename: (from: string, to: string) => void;
  add: (name: string) => void;
  /** So many questions by id find nothing. */
  drop: (times: number) => void;
} {
  const names = ['t1', 't2', 't1'];
  const schemas = ['a', 'a', 'b'];
  let dropped = 0;
  const asked: Record<string, unknown>[] = [];
  const call = (method: string, request: Record<string, readonly string[]>): Promise<unknown> => {
    asked.push({ method, schemas: request['schemas'] ?? [], names: request['names'] ?? [] });
    if (method === 'ListNamespaces')
      return Promise.resolve({ namespaces: [{ levels: ['a'], owner: '' }], more: false });
    const isWanted = (wanted: readonly string[] | undefined, name: string): boolean =>
      wanted === undefined || wanted.length === 0 || wanted.includes(name);
    if ((request['ids'] ?? []).length > 0 && dropped > 0) {
      dropped -= 1;
      return Promise.resolve({ relations: [], more: false, last: '' });
    }
    const relations = schemas.flatMap((schema, i) => {
      const name = names[i] ?? '';
      if (!isWanted(request['schemas'], schema) || !isWanted(request['names'], name)) return [];
      const facts = { kind: 'TABLE', summary: '{}', storage_summary: '', columns: '' };
      return [{ id: `${schema}.${i}`, version: '1', namespace: [schema], name, ...facts }];
    });
    return Promise.resolve({ relations, more: false, last: '' });
  };
  const ofLease = { askedAt: () => held, holds: (at: unknown) => at !== null && lease.holds };
  const rename = (from: string, to: string): void => void names.splice(names.indexOf(from), 1, to);
  const add = (name: string): void => void (names.push(name), schemas.push('a'));
  const drop = (times: number): void => void (dropped = times);
  return { lists: new RelationLists(call as never, ofLease), asked, rename, add, drop };
}
const namesOf = async (lists: RelationLists, places?: WantedPlaces): Promise<readonly string[]> =>
  (await lists.list(principal, 'lake', new AbortController().signal, places)).relations.map(
    ({ namespace, name }) => `${namespace.join('.')}.${name}`,
  );

test('a reader of few places asks for these alone', async () => {
  const { lists, asked } = listsOf({ holds: false });
  expect(await namesOf(lists, { names: ['t1'] })).toEqual(['a.t1', 'b.t1']);
  expect(await namesOf(lists, { schemas: ['a'], names: ['t1'] })).toEqual(['a.t1']);
  expect(asked).toEqual([
    { method: 'ListRelations', schemas: [], names: ['t1'] },
    { method: 'ListRelations', schemas: ['a'], names: ['t1'] },
  ]);
});

test('the whole list answers it while a lease says that nothing has changed', async () => {
  const lease = { holds: true };
  const { lists, asked } = listsOf(lease);
  expect(await namesOf(lists)).toHaveLength(3);
  expect(await namesOf(lists, { names: ['t1'] })).toHaveLength(3);
  expect(asked).toHaveLength(2);
  lease.holds = false;
  expect(await namesOf(lists, { names: ['t1'] })).toHaveLength(2);
});

test('places without names, and a hundred names, are read from the whole list', async () => {
  const { lists, asked } = listsOf({ holds: false });
  expect(await namesOf(lists, { names: [] })).toHaveLength(3);
  expect(await namesOf(lists, { names: Array.from({ length: 101 }, (_, i) => `t${i}`) })).toHaveLength(3);
  expect(asked.every(({ names }) => (names as readonly string[]).length === 0)).toBe(true);
});

test('a list that has not changed stays the same object, whatever the lease says', async () => {
  const { lists, rename } = listsOf({ holds: false });
  const list = (): Promise<unknown> => lists.list(principal, 'lake', new AbortController().signal);
  const first = await list();
  expect(await list()).toBe(first);
  rename('t2', 't3');
  const second = await list();
  expect(second).not.toBe(first);
  expect(second).toMatchObject({ relations: [{ name: 't1' }, { name: 't3' }, { name: 't1' }] });
});

test.each<[string, WantedPlaces]>([
  ['the whole list', {}],
  ['a schema', { schemas: ['a'] }],
])('readers that come while %s is read share the next reading', async (_what, places) => {
  const { lists, asked } = listsOf({ holds: false });
  const all = await Promise.all(Array.from({ length: 20 }, () => namesOf(lists, places)));
  expect(new Set(all.map(String)).size).toBe(1);
  expect(asked.filter(({ method }) => method === 'ListRelations')).toHaveLength(2);
});

test('a reader of schemas alone asks for no relations', async () => {
  const { lists, asked } = listsOf({ holds: false });
  const signal = new AbortController().signal;
  expect(await lists.list(principal, 'lake', signal, { schemasAlone: true })).toEqual({
    relations: [],
    schemas: [{ levels: ['a'], owner: null }],
  });
  expect(asked).toHaveLength(1);
});

test('a table that is dropped while its columns are asked for, and is back afterwards, is listed', async () => {
  const { lists, add, drop } = listsOf({ holds: false });
  expect(await namesOf(lists)).toHaveLength(3);
  add('t3');
  drop(1);
  expect(await namesOf(lists)).toHaveLength(3);
  expect(await namesOf(lists)).toContain('a.t3');
});
