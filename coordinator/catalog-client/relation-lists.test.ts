import { expect, test } from 'vitest';
import { principalId, tenantId } from '#shared/id.ts';
import { RelationLists, type WantedPlaces } from './relation-lists.ts';

const principal = { tenant: tenantId('t'), sub: principalId('p') } as never;
const held = { period: 0, ms: 0 };
const signal = new AbortController().signal;

type Request = {
  readonly since?: string;
  readonly ids?: readonly string[];
  readonly schemas?: readonly string[];
  readonly names?: readonly string[];
};

/** A catalog of the tables a.t1, a.t2 and b.t1, lists over it, and what was asked of it. */
class FakeCatalog {
  readonly lease = { holds: false };
  readonly asked: { method: string; schemas: readonly string[]; names: readonly string[] }[] = [];
  readonly lists: RelationLists;
  readonly #tables = new Map([
    ['1', 'a.t1'],
    ['2', 'a.t2'],
    ['3', 'b.t1'],
  ]);
  /** The changes, one after the other; a mark is the number of those that it sees. */
  readonly #changes: string[] = [];
  /** Marks that see less are not known. */
  forgotten = 0;
  /** Called once, before the next list of relations is read. */
  between: (() => void) | null = null;

  constructor() {
    const lease = { askedAt: () => held, holds: (at: unknown) => at !== null && this.lease.holds };
    this.lists = new RelationLists(((method: string, request: Request) => this.#call(method, request)) as never, lease);
  }

  set(id: string, name: string | null): void {
    if (name === null) this.#tables.delete(id);
    else this.#tables.set(id, name);
    this.#changes.push(id);
  }

  changeSchemas(): void {
    this.#changes.push('schemas');
  }

  #call(method: string, { since = '', ids = [], schemas = [], names = [] }: Request): Promise<unknown> {
    this.asked.push({ method, schemas, names });
    if (method === 'ListNamespaces')
      return Promise.resolve({ namespaces: [{ levels: ['a'], owner: '' }], more: false });
    if (method === 'ListChanges') {
      const since_ = this.#changes.slice(Number(since));
      const isKnown = since !== '' && Number(since) >= this.forgotten;
      const relations = isKnown ? since_.filter((id) => id !== 'schemas') : [];
      const namespaces = isKnown && since_.includes('schemas');
      return Promise.resolve({ mark: String(this.#changes.length), is_known: isKnown, relations, namespaces });
    }
    this.between?.();
    this.between = null;
    const isWanted = (wanted: readonly string[], one: string): boolean => wanted.length === 0 || wanted.includes(one);
    const relations = [...this.#tables].flatMap(([id, path]) => {
      const [schema = '', name = ''] = path.split('.');
      if (!isWanted(ids, id) || !isWanted(schemas, schema) || !isWanted(names, name)) return [];
      const facts = { kind: 'TABLE', summary: '{}', storage_summary: '', columns: '', policies: [] };
      return [{ id, version: '1', namespace: [schema], name, ...facts }];
    });
    return Promise.resolve({ relations, more: false, last: '' });
  }

  list(places?: WantedPlaces): ReturnType<RelationLists['list']> {
    return this.lists.list(principal, 'lake', signal, places);
  }

  async names(places?: WantedPlaces): Promise<readonly string[]> {
    const { blocks } = await this.list(places);
    return blocks.flat().map(({ schema, name }) => `${schema}.${name}`);
  }

  /** The methods that were called since the last look. */
  calls(): readonly string[] {
    return this.asked.splice(0).map(({ method }) => method);
  }
}

test('a reader of few places asks for these alone', async () => {
  const catalog = new FakeCatalog();
  expect(await catalog.names({ names: ['t1'] })).toEqual(['a.t1', 'b.t1']);
  expect(await catalog.names({ schemas: ['a'], names: ['t1'] })).toEqual(['a.t1']);
  expect(catalog.asked).toEqual([
    { method: 'ListRelations', schemas: [], names: ['t1'] },
    { method: 'ListRelations', schemas: ['a'], names: ['t1'] },
  ]);
});

test('the whole list answers it once it is at hand: while a lease says that nothing has changed nobody is asked', async () => {
  const catalog = new FakeCatalog();
  catalog.lease.holds = true;
  expect(await catalog.names()).toHaveLength(3);
  expect(catalog.calls()).toEqual(['ListChanges', 'ListRelations', 'ListNamespaces']);
  expect(await catalog.names({ names: ['t1'] })).toHaveLength(3);
  expect(catalog.calls()).toEqual([]);
  catalog.lease.holds = false;
  expect(await catalog.names({ names: ['t1'] })).toHaveLength(3);
  expect(catalog.calls()).toEqual(['ListChanges']);
});

test('places without names, and a hundred names, are read from the whole list', async () => {
  const some = new FakeCatalog();
  expect(await some.names({ names: [] })).toHaveLength(3);
  const many = new FakeCatalog();
  expect(await many.names({ names: Array.from({ length: 101 }, (_, i) => `t${i}`) })).toHaveLength(3);
  expect([...some.asked, ...many.asked].every(({ names }) => names.length === 0)).toBe(true);
});

test('a list that has not changed stays the same object, whatever the lease says', async () => {
  const catalog = new FakeCatalog();
  const first = await catalog.list();
  expect(await catalog.list()).toBe(first);
});

test('only what has changed is read again: new, renamed and dropped tables', async () => {
  const catalog = new FakeCatalog();
  await catalog.names();
  catalog.calls();
  catalog.set('2', 'a.renamed');
  catalog.set('4', 'a.new');
  catalog.set('3', null);
  expect(await catalog.names()).toEqual(['a.t1', 'a.renamed', 'a.new']);
  expect(catalog.calls()).toEqual(['ListChanges', 'ListRelations']);
  catalog.changeSchemas();
  expect(await catalog.names()).toHaveLength(3);
  expect(catalog.calls()).toEqual(['ListChanges', 'ListNamespaces']);
});

test('a change between the mark and the reading is read again: a table that was dropped meanwhile, and is back', async () => {
  const catalog = new FakeCatalog();
  await catalog.names();
  catalog.set('4', 'a.new');
  catalog.between = () => catalog.set('4', null);
  expect(await catalog.names()).toHaveLength(3);
  catalog.set('4', 'a.new');
  expect(await catalog.names()).toContain('a.new');
});

test('a change while the first list is read is not missed', async () => {
  const catalog = new FakeCatalog();
  catalog.between = () => catalog.set('1', 'a.first');
  await catalog.names();
  catalog.calls();
  expect(await catalog.names()).toContain('a.first');
  expect(catalog.calls()).toEqual(['ListChanges', 'ListRelations']);
});

test('everything is read when the catalog does not know what has changed', async () => {
  const catalog = new FakeCatalog();
  await catalog.names();
  catalog.calls();
  catalog.set('3', null);
  catalog.forgotten = 1;
  expect(await catalog.names()).toEqual(['a.t1', 'a.t2']);
  expect(catalog.calls()).toEqual(['ListChanges', 'ListRelations', 'ListNamespaces']);
});

test.each<[string, WantedPlaces, readonly string[]]>([
  ['the whole list', {}, ['ListChanges', 'ListRelations', 'ListNamespaces', 'ListChanges']],
  ['a schema', { schemas: ['a'] }, ['ListRelations', 'ListRelations']],
])('readers that come while %s is read share the next reading', async (_what, places, calls) => {
  const catalog = new FakeCatalog();
  const all = await Promise.all(Array.from({ length: 20 }, () => catalog.names(places)));
  expect(new Set(all.map(String)).size).toBe(1);
  expect(catalog.calls()).toEqual(calls);
});

test('a reader of schemas alone asks for no relations', async () => {
  const catalog = new FakeCatalog();
  expect(await catalog.list({ schemasAlone: true })).toEqual({ blocks: [], schemas: [{ levels: ['a'], owner: null }] });
  expect(catalog.calls()).toEqual(['ListNamespaces']);
});
