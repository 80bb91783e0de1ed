import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '#shared/json.ts';
import { forgetChanges } from '../store/postgres/list-change-store.ts';
import { connectStore } from '../store/postgres/connect.ts';
import { transact } from '../store/postgres/transact.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { NS, SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';

let catalog: TestCatalog;
let schema: string;
beforeAll(async () => {
  catalog = await startTestCatalog();
});
afterAll(() => catalog?.[Symbol.asyncDispose]());
beforeEach(async () => {
  schema = `s${randomUUID().slice(0, 8)}`;
  await request('POST', NS, { namespace: [schema] });
});

async function request(method: string, path: string, body?: JsonObject): Promise<void> {
  const { status, body: answer } = await catalog.rest(method, path, body === undefined ? {} : { body });
  expect(status, JSON.stringify(answer)).toBeLessThan(300);
}
const tables = (): string => `${NS}/${schema}/tables`;
const create = (name: string): Promise<void> => request('POST', tables(), { name, schema: SCHEMA });
const commit = (name: string): Promise<void> =>
  request('POST', `${tables()}/${name}`, {
    requirements: [],
    updates: [{ action: 'set-properties', updates: { p: randomUUID() } }],
  });
const rename = (from: string, to: string): Promise<void> =>
  request('POST', '/v1/lake/tables/rename', {
    source: { namespace: [schema], name: from },
    destination: { namespace: [schema], name: to },
  });
const drop = (name: string): Promise<void> => request('DELETE', `${tables()}/${name}`);
const createView = (name: string, storage?: string): Promise<void> =>
  request('POST', `${NS}/${schema}/views`, {
    name,
    schema: { ...SCHEMA, 'schema-id': 0 },
    'view-version': {
      'version-id': 1,
      'timestamp-ms': Date.now(),
      'schema-id': 0,
      summary: {},
      'default-namespace': [schema],
      representations: [{ type: 'sql', sql: 'SELECT 1 AS a', dialect: 'duckdb' }],
      ...(storage === undefined ? {} : { 'storage-table': { namespace: [schema], name: storage } }),
    },
    properties: {},
  });

type Changes = {
  readonly mark: string;
  readonly is_known: boolean;
  readonly relations: readonly string[];
  readonly namespaces: boolean;
};
const changes = (since = '', ofCatalog = 'lake'): Promise<Changes> =>
  catalog.call<Changes>('ListChanges', { principal: catalog.principal(), catalog: ofCatalog, since });
type Relation = { readonly id: string; readonly name: string };
const listed = async (ids: readonly string[] = []): Promise<readonly Relation[]> => {
  const asked = { principal: catalog.principal(), catalog: 'lake', schemas: [schema], ids };
  return (await catalog.call<{ readonly relations: readonly Relation[] }>('ListRelations', asked)).relations;
};
const namesNow = async (ids: readonly string[]): Promise<readonly string[]> =>
  ids.length === 0 ? [] : (await listed(ids)).map(({ name }) => name).toSorted();

async function forgetAll(): Promise<void> {
  const store = await connectStore(catalog.config, silentLogger);
  await transact(store.db, (tx) => forgetChanges(tx, new Date(Date.now() + 60_000)));
  await store.close();
}

/** Follows the changes as a coordinator does. */
class Follower {
  #mark = '';
  #relations = new Map<string, Relation>();

  async look(): Promise<readonly string[]> {
    const { mark, is_known: isKnown, relations } = await changes(this.#mark);
    if (!isKnown) this.#relations = new Map((await listed()).map((one) => [one.id, one]));
    else if (relations.length > 0) {
      for (const id of relations) this.#relations.delete(id);
      for (const one of await listed(relations)) this.#relations.set(one.id, one);
    }
    this.#mark = mark;
    return [...this.#relations.values()].map(({ name }) => name).toSorted();
  }
}

describe('since a mark', () => {
  test.each<[string, (() => Promise<void>)[], () => Promise<void>, readonly string[]]>([
    ['a new table', [], () => create('t'), ['t']],
    ['a commit', [() => create('t'), () => create('other')], () => commit('t'), ['t']],
    ['a rename', [() => create('t')], () => rename('t', 'u'), ['u']],
    ['a new view', [], () => createView('v'), ['v']],
    ['a new materialized view', [], () => createView('m', 'rows'), ['m']],
    ['its first rows', [() => createView('m', 'rows')], () => create('rows'), ['m']],
    ['a commit to its rows', [() => createView('m', 'rows'), () => create('rows')], () => commit('rows'), ['m']],
    ['the end of its rows', [() => createView('m', 'rows'), () => create('rows')], () => drop('rows'), ['m']],
    [
      'the move of its rows, which shows a table',
      [() => createView('m', 'rows'), () => create('rows')],
      () => rename('rows', 'shown'),
      ['m', 'shown'],
    ],
    [
      'the end of a materialized view, with its rows',
      [() => createView('m', 'rows'), () => create('rows')],
      () => request('DELETE', `${NS}/${schema}/views/m`),
      [],
    ],
  ])('%s', async (_what, before, change, expected) => {
    for (const one of before) await one();
    const { mark } = await changes();
    expect(await changes(mark)).toMatchObject({ is_known: true, relations: [], namespaces: false });
    await change();
    const { is_known: isKnown, relations, namespaces } = await changes(mark);
    expect({ isKnown, namespaces }).toEqual({ isKnown: true, namespaces: false });
    expect(await namesNow(relations)).toEqual(expected);
  });

  test('a drop: the id of what is gone', async () => {
    await create('t');
    const [found] = await listed();
    const { mark } = await changes();
    await drop('t');
    const { relations } = await changes(mark);
    expect(relations).toContain(found?.id);
    expect(await namesNow(relations)).toEqual([]);
  });

  test('namespaces: a new one, its properties, its end', async () => {
    const steps = [
      () => request('POST', NS, { namespace: [`${schema}_2`] }),
      () => request('POST', `${NS}/${schema}_2/properties`, { updates: { owner: 'ann' } }),
      () => request('DELETE', `${NS}/${schema}_2`),
    ];
    for (const step of steps) {
      const { mark } = await changes();
      await step();
      expect(await changes(mark)).toMatchObject({ is_known: true, relations: [], namespaces: true });
    }
  });

  test('facts that are made anew are no change', async () => {
    await create('t');
    const { mark } = await changes();
    await catalog.sql(`update catalog.iceberg_table set facts_version = null, summary = null, columns = null`);
    await listed();
    expect((await changes(mark)).relations).toEqual([]);
  });

  test('of another catalog: nothing of it', async () => {
    await catalog.call('CreateCatalog', { tenant: 'default', name: 'beside' }).catch(() => undefined);
    const { mark } = await changes();
    await request('POST', '/v1/beside/namespaces', { namespace: [schema] });
    expect(await changes(mark)).toMatchObject({ is_known: true, relations: [], namespaces: false });
    expect(await changes(mark, 'beside')).toMatchObject({ is_known: false });
    await expect(changes(mark, 'elsewhere')).rejects.toMatchObject({ code: 'CATALOG_NOT_FOUND' });
  });
});

describe('a mark that is worth nothing', () => {
  test.each(['nonsense', `${randomUUID()} ${randomUUID()} 1:1:`, "' or true", '9'.repeat(10_000)])(
    'an unknown one: %.20s',
    async (since) => {
      expect(await changes(since)).toMatchObject({ is_known: false, relations: [] });
    },
  );

  test('one from before what was forgotten, and one from before a start of a catalog', async () => {
    const { mark: old } = await changes();
    await create('t');
    const { mark: late } = await changes();
    await forgetAll();
    expect((await changes(old)).is_known).toBe(false);
    expect(await changes(late)).toMatchObject({ is_known: true, relations: [] });
    await catalog.restart();
    expect((await changes(late)).is_known).toBe(false);
  });

  test('one with too many changes behind it', async () => {
    const { mark } = await changes();
    const add = (count: number): Promise<unknown> =>
      catalog.sql(`insert into catalog.list_change (catalog_id, object_id, is_namespace)
        select id, gen_random_uuid(), false from catalog.catalog, generate_series(1, ${count}) where name = 'lake'`);
    await add(1_999);
    const { is_known: isKnown, relations } = await changes(mark);
    expect([isKnown, relations.length]).toEqual([true, 1_999]);
    await add(1);
    expect((await changes(mark)).is_known).toBe(false);
  });
});

describe('transactions that end in another order than they began', () => {
  /** Begins a transaction that has changed the table, and ends when it is told. */
  async function open(name: string): Promise<{ client: Client; end: (how: 'commit' | 'rollback') => Promise<void> }> {
    const client = new Client(catalog.databaseUrl);
    await client.connect();
    await client.query('begin');
    await client.query('select pg_current_xact_id()');
    const change = async (): Promise<void> => {
      await client.query('update catalog.iceberg_table set version = version where name = $1', [name]);
    };
    await change();
    return {
      client,
      end: async (how) => {
        await client.query(how);
        await client.end();
      },
    };
  }

  test('one that began first and commits last is not lost, whatever is asked in between', async () => {
    const [first, second] = [`a_${schema}`, `b_${schema}`];
    for (const name of [first, second]) await create(name);
    const { mark: before } = await changes();
    const early = await open(first);
    const late = await open(second);
    const { mark: during } = await changes(before);
    await late.end('commit');
    const between = await changes(during);
    expect(await namesNow(between.relations)).toEqual([second]);
    const again = await changes(between.mark);
    expect(again.relations).toEqual([]);
    await early.end('commit');
    expect(await namesNow((await changes(again.mark)).relations)).toEqual([first]);
    expect(await namesNow((await changes(before)).relations)).toEqual([first, second]);
  });

  test('one that waited for the row of a later one, and has the lower number', async () => {
    await create(`c_${schema}`);
    const low = new Client(catalog.databaseUrl);
    await low.connect();
    await low.query('begin');
    await low.query('select pg_current_xact_id()');
    const high = await open(`c_${schema}`);
    const waiting = low.query('update catalog.iceberg_table set version = version where name = $1', [`c_${schema}`]);
    await high.end('commit');
    await waiting;
    const { mark } = await changes();
    expect((await changes(mark)).relations).toEqual([]);
    await low.query('commit');
    await low.end();
    expect(await namesNow((await changes(mark)).relations)).toEqual([`c_${schema}`]);
  });

  test('one that is rolled back has changed nothing', async () => {
    await create(`d_${schema}`);
    const { mark } = await changes();
    const other = await open(`d_${schema}`);
    await other.end('rollback');
    expect((await changes(mark)).relations).toEqual([]);
  });

  test('what is forgotten while a transaction runs that a mark does not see', async () => {
    await create(`e_${schema}`);
    const running = await open(`e_${schema}`);
    const { mark } = await changes();
    await running.end('commit');
    await forgetAll();
    expect((await changes(mark)).is_known).toBe(false);
  });
});

test('whoever follows the changes has what the list has, while writers create, rename and drop', async () => {
  const followers = [new Follower(), new Follower()];
  const over = new AbortController();
  const write = async (writer: number): Promise<void> => {
    for (let i = 0; i < 6; i += 1) {
      await create(`t${writer}_${i}`);
      if (i % 2 === 0) await rename(`t${writer}_${i}`, `r${writer}_${i}`);
      else await drop(`t${writer}_${i}`);
    }
  };
  const follow = async (follower: Follower): Promise<void> => {
    while (!over.signal.aborted) await follower.look();
  };
  const following = followers.map(follow);
  await Promise.all(Array.from({ length: 4 }, (_, i) => write(i))).finally(() => over.abort());
  await Promise.all(following);
  const right = (await listed()).map(({ name }) => name).toSorted();
  expect(right).toHaveLength(12);
  for (const follower of followers) expect(await follower.look()).toEqual(right);
});
