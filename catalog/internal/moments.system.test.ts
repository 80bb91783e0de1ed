import { randomUUID } from 'node:crypto';
import { Client as PgClient } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '#shared/json.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import { NS, SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';

let catalog: TestCatalog;
beforeAll(async () => {
  catalog = await startTestCatalog();
});
afterAll(() => catalog?.[Symbol.asyncDispose]());

const create = async (): Promise<string> => {
  const name = `t${randomUUID().slice(0, 8)}`;
  expect((await catalog.rest('POST', `${NS}/default/tables`, { body: { name, schema: SCHEMA } })).status).toBe(200);
  return name;
};
const change = (name: string, value: string, more: readonly JsonObject[] = []): JsonObject => ({
  identifier: { catalog: 'lake', namespace: ['default'], name },
  requirements: more,
  updates: [{ action: 'set-properties', updates: { value } }],
});
const transaction = (...changes: readonly JsonObject[]): Buffer =>
  Buffer.from(JSON.stringify({ 'table-changes': changes }));
const commit = (...changes: readonly JsonObject[]): Promise<unknown> =>
  catalog.call('CommitTables', {
    principal: catalog.principal(),
    key: newUuidV7(Date.now()),
    transaction: transaction(...changes),
  });
const now = async (): Promise<string> => (await catalog.call<{ moment: string }>('GetMoment', {})).moment;

type Loaded = { readonly status: string; readonly version: string; readonly metadata_json: string };
async function load(moment: string, ...tables: readonly string[]): Promise<readonly Loaded[]> {
  const names = tables.map((table) => ({ catalog: 'lake', namespace: ['default'], table }));
  const request = { principal: catalog.principal(), names, moment };
  return (await catalog.call<{ tables: readonly Loaded[] }>('LoadTables', request)).tables;
}
const valueIn = ({ metadata_json: text }: Loaded): unknown =>
  (JSON.parse(text) as { readonly properties: JsonObject }).properties['value'];
const values = async (moment: string, ...tables: readonly string[]): Promise<readonly unknown[]> =>
  (await load(moment, ...tables)).map((one) => (one.status === 'FOUND' ? valueIn(one) : one.status));

describe('a moment', () => {
  test('shows every table as it was then, whatever came after it', async () => {
    const [a, b] = [await create(), await create()];
    await commit(change(a, '1'), change(b, '1'));
    const first = await now();
    await commit(change(a, '2'));
    const second = await now();
    await commit(change(a, '3'), change(b, '3'));
    const later = await create();
    expect(await values(first, a, b, later)).toEqual(['1', '1', 'TABLE_NOT_FOUND']);
    expect(await values(second, a, b)).toEqual(['2', '1']);
    expect(await values(await now(), a, b, later)).toEqual(['3', '3', undefined]);
    expect(await values('', a, b)).toEqual(['3', '3']);
    const versions = [first, second, ''].map(async (moment) => (await load(moment, a))[0]?.version);
    expect(new Set(await Promise.all(versions)).size).toBe(3);
  });

  test('does not see a commit that was under way, also when that ends before it is asked for', async () => {
    const [a, b] = [await create(), await create()];
    const holder = new PgClient(catalog.databaseUrl);
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM catalog.iceberg_table WHERE name = $1 FOR UPDATE', [a < b ? b : a]);
    const committing = commit(change(a, '1'), change(b, '1'));
    const isHeld = async (): Promise<number> =>
      (await holder.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).rowCount ?? 0;
    await expect.poll(isHeld).toBeGreaterThan(0);
    const moment = await now();
    await holder.query('ROLLBACK');
    await holder.end();
    await committing;
    expect(await values(moment, a, b)).toEqual([undefined, undefined]);
    expect(await values('', a, b)).toEqual(['1', '1']);
  });

  test('sees all tables of a database that was restored, whose transactions count anew', async () => {
    const a = await create();
    await catalog.sql(`UPDATE catalog.iceberg_table SET changed_in = '999999999999' WHERE name = '${a}'`);
    expect(await values(await now(), a)).toEqual(['TABLE_NOT_FOUND']);
    await catalog.restart();
    expect(await values(await now(), a)).toEqual([undefined]);
  });
});

describe('a staged change', () => {
  const stage = (baseVersion: string, ...changes: readonly JsonObject[]): Promise<Loaded> =>
    catalog.call('StageTable', {
      principal: catalog.principal(),
      transaction: transaction(...changes),
      base_version: baseVersion,
    });
  const versionOf = async (table: string): Promise<string> => (await load('', table))[0]?.version ?? '';

  test('is told and not stored, of the table as it is and as it was', async () => {
    const a = await create();
    const before = await versionOf(a);
    expect(valueIn(await stage(before, change(a, 'staged')))).toBe('staged');
    await commit(change(a, '1'));
    const kept = { action: 'set-properties', updates: { other: 'x' } };
    const then = await stage(before, { ...change(a, 'staged'), updates: [kept] });
    expect([valueIn(then), await values('', a), (await versionOf(a)) === before]).toEqual([undefined, ['1'], false]);
  });

  test('of a table that is created needs none', async () => {
    const creation = {
      ...change('never', 'x', [{ type: 'assert-create' }]),
      updates: [
        { action: 'add-schema', schema: SCHEMA },
        { action: 'set-current-schema', 'schema-id': -1 },
      ],
    };
    expect((await stage('', creation)).status).toBe('FOUND');
    expect(await values('', 'never')).toEqual(['TABLE_NOT_FOUND']);
  });

  test('is refused when its requirements do not hold, when the table is gone, and for two tables', async () => {
    const a = await create();
    const other = { type: 'assert-table-uuid', uuid: randomUUID() };
    const version = await versionOf(a);
    await expect(stage(version, change(a, 'x', [other]))).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
    await expect(stage(version, change(a, 'x'), change('b', 'x'))).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect((await catalog.rest('DELETE', `${NS}/default/tables/${a}`)).status).toBe(204);
    await expect(stage(version, change(a, 'x'))).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
  });

  test('finds no table of another tenant', async () => {
    const a = await create();
    await catalog.call('CreateTenant', { name: 'rival', admin_user: 'eve', admin_password: 'a long password' });
    await catalog.call('CreateCatalog', { tenant: 'rival', name: 'theirs', location: '' });
    const theirs = { ...change(a, 'x'), identifier: { catalog: 'theirs', namespace: ['default'], name: a } };
    const request = {
      principal: catalog.principal(await catalog.mint({ tenant: 'rival', user: 'eve' })),
      transaction: transaction(theirs),
      base_version: await versionOf(a),
    };
    await expect(catalog.call('StageTable', request)).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
  });
});
