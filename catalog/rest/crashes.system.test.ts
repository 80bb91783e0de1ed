import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { CrashPoint } from '#catalog/context.ts';
import { must } from '#shared/must.ts';
import { parseJson, printJson, type JsonObject } from '#shared/json.ts';
import { locationOf, metadataOf, NS, SCHEMA, setMain, snapshot } from '#test/support/catalog-requests.ts';
import { startCatalogProcess, type CatalogProcess } from '#test/support/catalog-process.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import { startTestPostgres, type TestPostgres } from '#test/support/postgres.ts';
import { writeSnapshot } from '#test/support/table-snapshot.ts';
import { patience } from '#test/support/run/slowness.ts';

/** A client's view of a catalog or Postgres that is killed: it finds whole changes or none, and nothing stays locked. */

/** A Postgres of its own, because it is killed. */
let postgres: TestPostgres;
let catalog: TestCatalog;
let victim: CatalogProcess | undefined;
beforeAll(async () => {
  postgres = await startTestPostgres();
  const settings = { 'catalog.background_interval': 500, 'catalog.background_hold': 3_000 };
  catalog = await startTestCatalog(settings, undefined, postgres);
});
afterEach(async () => {
  await victim?.kill();
  victim = undefined;
});
afterAll(async () => {
  await catalog?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
});

const startVictim = async (dieAt: CrashPoint | null = null): Promise<CatalogProcess> => {
  victim = await startCatalogProcess(catalog.config, dieAt);
  return victim;
};
type Sent = { readonly status: number; readonly body: JsonObject } | 'lost';
/** Sends a request to the catalog that dies; returns `lost` when no answer came. */
async function send(url: string, path: string, body: object, key?: string): Promise<Sent> {
  const headers: Record<string, string> = { authorization: `Bearer ${catalog.token}` };
  if (key !== undefined) headers['idempotency-key'] = key;
  try {
    const response = await fetch(url + path, { method: 'POST', headers, body: printJson(body) });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : (parseJson(text) as JsonObject) };
  } catch {
    return 'lost';
  }
}
const newKey = (): string => randomUUID().replace(/^(.{14})4/, '$17');
const create = (name: string): Promise<RestAnswer> =>
  catalog.rest('POST', `${NS}/default/tables`, { body: { name, schema: SCHEMA } });
const load = (name: string): Promise<RestAnswer> => catalog.rest('GET', `${NS}/default/tables/${name}`);
const propertiesOf = async (name: string): Promise<JsonObject> =>
  metadataOf(await load(name))['properties'] as JsonObject;

describe('kill -9 of the catalog in a transaction of several tables', () => {
  const made: Readonly<Record<CrashPoint, boolean>> = {
    'files-written': false,
    'before-commit': false,
    committed: true,
    'before-reply': true,
  };

  test.each(Object.entries(made) as [CrashPoint, boolean][])('at %s: all of it is made: %s', async (point, isMade) => {
    const names = ['one', 'two', 'three'].map((name) => `${point}-${name}`);
    for (const name of names.slice(0, 2)) expect((await create(name)).status).toBe(200);
    const creation = {
      identifier: { namespace: ['default'], name: names[2] ?? '' },
      requirements: [{ type: 'assert-create' }],
      updates: [
        { action: 'add-schema', schema: SCHEMA },
        { action: 'set-current-schema', 'schema-id': -1 },
      ],
    };
    const changes = names.slice(0, 2).map((name) => ({
      identifier: { namespace: ['default'], name },
      requirements: [],
      updates: [{ action: 'set-properties', updates: { crash: point } }],
    }));
    const body = { 'table-changes': [...changes, creation] };
    const key = newKey();
    const dying = await startVictim(point);
    await dying.arm();
    expect(await send(dying.url, '/v1/lake/transactions/commit', body, key)).toBe('lost');
    await dying.died();

    const expected = isMade ? point : undefined;
    for (const name of names.slice(0, 2)) expect((await propertiesOf(name))['crash']).toBe(expected);
    expect((await load(names[2] ?? '')).status).toBe(isMade ? 200 : 404);

    // The client tries again under its key, and whatever happened before it is made once.
    const again = await send(catalog.running.url, '/v1/lake/transactions/commit', body, key);
    expect(again).toMatchObject({ status: 204 });
    for (const name of names.slice(0, 2)) {
      expect((await propertiesOf(name))['crash']).toBe(point);
      const log = metadataOf(await load(name))['metadata-log'] as unknown[];
      expect(log).toHaveLength(1);
      const more = { updates: [{ action: 'set-properties', updates: { after: 'yes' } }] };
      expect((await catalog.rest('POST', `${NS}/default/tables/${name}`, { body: more })).status).toBe(200);
    }
    expect((await load(names[2] ?? '')).status).toBe(200);
  });
});

type Writer = { readonly table: string; readonly ids: number[]; readonly ended: Promise<void> };

/** Appends to a table until told to stop, retrying whatever happens; `ids` are those whose commit was answered with 200. */
function writer(
  table: string,
  firstId: number,
  victim: { readonly stopped: () => boolean; readonly url: () => string },
) {
  const ids: number[] = [];
  return { table, ids, ended: appendUntil(table, firstId, { ...victim, acknowledged: ids }) } satisfies Writer;
}

async function appendUntil(
  table: string,
  firstId: number,
  { stopped, url, acknowledged }: Parameters<typeof writer>[2] & { readonly acknowledged: number[] },
): Promise<void> {
  const location = locationOf(await load(table));
  for (let id = firstId; !stopped(); id += 1) {
    const metadata = await load(table).then(metadataOf, () => undefined);
    if (metadata === undefined) continue;
    const current = metadata['current-snapshot-id'] as number;
    const parent = current === -1 ? undefined : current;
    const body = {
      requirements: [{ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': parent ?? null }],
      updates: [snapshot(location, id, parent, Number(metadata['last-sequence-number']) + 1), setMain(id)],
    };
    const answer = await send(url(), `${NS}/default/tables/${table}`, body);
    if (answer !== 'lost' && answer.status === 200) acknowledged.push(id);
    else await sleep(20);
  }
}

/** Every writer has come to a commit: on a busy machine, beside another one, that takes a while. */
const haveCommitted = (writers: readonly Writer[]): Promise<void> =>
  expect.poll(() => writers.every(({ ids }) => ids.length > 0), { timeout: patience(30_000) }).toBe(true);

const snapshotIds = async (table: string): Promise<unknown[]> =>
  (metadataOf(await load(table))['snapshots'] as JsonObject[]).map((entry) => entry['snapshot-id']);

test('kill -9 of the catalog again and again while writers append: no committed snapshot is lost, every table is readable', async () => {
  const tables = ['kill0', 'kill1', 'kill2'];
  for (const table of tables) await create(table);
  let stopped = false;
  let current = await startVictim();
  const writers = tables.flatMap((table, t) =>
    [0, 1].map((w) => writer(table, 1 + (t * 2 + w) * 100_000, { stopped: () => stopped, url: () => current.url })),
  );
  for (let i = 0; i < 4; i += 1) {
    await sleep(1_500);
    await current.kill();
    current = await startVictim();
  }
  await haveCommitted(writers);
  stopped = true;
  for (const { table, ids, ended } of writers) {
    await ended;
    expect(await snapshotIds(table)).toEqual(expect.arrayContaining(ids));
  }
});

test('kill -9 of Postgres in the middle: no committed snapshot is lost, and nothing stays locked', async () => {
  const tables = ['pg0', 'pg1', 'pg2', 'pg3'];
  for (const table of tables) await create(table);
  let stopped = false;
  const writers = tables.map((table, t) =>
    writer(table, 1 + t * 100_000, { stopped: () => stopped, url: () => catalog.running.url }),
  );
  for (let i = 0; i < 3; i += 1) {
    await sleep(1_500);
    await postgres.kill();
    await postgres.start();
  }
  await haveCommitted(writers);
  stopped = true;
  for (const { table, ids, ended } of writers) {
    await ended;
    expect(await snapshotIds(table)).toEqual(expect.arrayContaining(ids));
    const more = { updates: [{ action: 'set-properties', updates: { after: 'yes' } }] };
    expect((await catalog.rest('POST', `${NS}/default/tables/${table}`, { body: more })).status).toBe(200);
  }
  expect((await catalog.rest('DELETE', `${NS}/default/tables/pg0`)).status).toBe(204);
});

test('kill -9 in the middle of a purge: another catalog ends it', async () => {
  const created = await create('half-purged');
  const location = locationOf(created);
  const files = Array.from({ length: 3_000 }, (_none, i) => `${location}/data/${i}.parquet`);
  const folder = `${location.replace('file://', '')}/data`;
  await mkdir(folder, { recursive: true });
  for (let i = 0; i < files.length; i += 1) await writeFile(`${folder}/${i}.parquet`, '');
  const body = { updates: [(await writeSnapshot(location, 1n, files)).update, setMain(1)] };
  expect((await catalog.rest('POST', `${NS}/default/tables/half-purged`, { body })).status).toBe(200);
  const dying = await startVictim();
  const left = async (): Promise<number> => (await readdir(folder).catch(() => [])).length;
  const headers = { authorization: `Bearer ${catalog.token}` };
  const dropped = `${dying.url}${NS}/default/tables/half-purged?purgeRequested=true`;
  expect((await fetch(dropped, { method: 'DELETE', headers })).status).toBe(204);
  await expect.poll(left, { interval: 2, timeout: patience(20_000) }).toBeLessThan(files.length);
  await dying.kill();
  await expect
    .poll(async () => (await catalog.rest('GET', '/v1/lake/dropped-tables')).body['dropped-tables'], {
      timeout: 60_000,
    })
    .toEqual([]);
  expect(await left()).toBe(0);
});

test('a client that goes away leaves a whole table, and nothing locked', async () => {
  await create('gone');
  for (let i = 0; i < 20; i += 1) {
    const abort = new AbortController();
    const headers = { authorization: `Bearer ${catalog.token}` };
    const body = printJson({ updates: [{ action: 'set-properties', updates: { [`k${i}`]: 'v' } }] });
    const url = `${catalog.running.url}${NS}/default/tables/gone`;
    const answer = fetch(url, { method: 'POST', headers, body, signal: abort.signal }).catch(() => undefined);
    await sleep(i);
    abort.abort();
    await answer;
  }
  const more = { updates: [{ action: 'set-properties', updates: { last: 'yes' } }] };
  expect((await catalog.rest('POST', `${NS}/default/tables/gone`, { body: more })).status).toBe(200);
  const { body } = await load('gone');
  const metadata = body['metadata'] as JsonObject;
  const file = must(body['metadata-location'], 'loaded') as string;
  const onDisk = parseJson(await readFile(file.replace('file://', ''), 'utf8'));
  expect(onDisk).toEqual(metadata);
});

test('two catalogs on one database: commits of both succeed, and a key is good in both', async () => {
  await create('shared');
  const other = await startVictim();
  const urls = [catalog.running.url, other.url];
  const path = `${NS}/default/tables/shared`;
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_none, i) =>
      send(urls[i % 2] ?? '', path, { updates: [{ action: 'set-properties', updates: { [`k${i}`]: 'v' } }] }),
    ),
  );
  expect(answers.map((answer) => answer !== 'lost' && answer.status)).toEqual(Array.from({ length: 24 }, () => 200));
  const keys = Object.keys(await propertiesOf('shared')).filter((key) => /^k\d+$/.test(key));
  expect(keys).toHaveLength(24);
  const key = newKey();
  const body = { name: 'both', schema: SCHEMA };
  const twins = await Promise.all(
    Array.from({ length: 10 }, (_none, i) => send(urls[i % 2] ?? '', `${NS}/default/tables`, body, key)),
  );
  expect(new Set(twins.map((answer) => (answer === 'lost' ? answer : printJson(answer)))).size).toBe(1);
  expect(twins[0]).toMatchObject({ status: 200 });
});

test('60 writers on tables of their own: no failure', async () => {
  const tables = Array.from({ length: 60 }, (_none, i) => `own${i}`);
  await Promise.all(tables.map(create));
  const answers = await Promise.all(
    tables.map(async (table) => {
      const statuses: number[] = [];
      for (let i = 0; i < 5; i += 1) {
        const body = { updates: [{ action: 'set-properties', updates: { i: String(i) } }] };
        statuses.push((await catalog.rest('POST', `${NS}/default/tables/${table}`, { body })).status);
      }
      return statuses;
    }),
  );
  expect(new Set(answers.flat())).toEqual(new Set([200]));
});
