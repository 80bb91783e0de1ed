import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import type { JsonObject } from '#shared/json.ts';
import { fileStorage } from '#test/support/file-storage.ts';
import { locationOf, metadataOf, NS, SCHEMA, setMain } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { writeSnapshot } from '#test/support/table-snapshot.ts';
import { patience } from '#test/support/run/slowness.ts';

const HOUR_MS = 3_600_000;
const ASKS = { 'history.expire.max-snapshot-age-ms': String(HOUR_MS) };
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() };
let catalog: TestCatalog;
beforeAll(async () => {
  const soon = { 'catalog.background_interval': 100, 'catalog.background_hold': 1_000 };
  catalog = await startTestCatalog({ ...soon, 'catalog.token_ttl': 30 * 24 * HOUR_MS }, clock);
});
afterAll(() => catalog?.[Symbol.asyncDispose]());

const path = (name: string): string => `${NS}/default/tables/${name}`;
const load = async (name: string): Promise<JsonObject> => metadataOf(await catalog.rest('GET', path(name)));
const snapshotsOf = async (name: string): Promise<readonly unknown[]> =>
  ((await load(name))['snapshots'] as readonly JsonObject[]).map((one) => one['snapshot-id']);
const commit = async (name: string, ...updates: readonly object[]): Promise<void> => {
  expect((await catalog.rest('POST', path(name), { body: { updates } })).status).toBe(200);
};
const present = async (files: readonly string[]): Promise<readonly string[]> => {
  const there = await Promise.all(files.map((file) => fileStorage.exists(file)));
  return files.filter((_file, i) => there[i]);
};
const dueAt = async (name: string): Promise<number | null> => {
  const sql = `SELECT extract(epoch FROM expires_at) * 1000 AS at FROM catalog.iceberg_table WHERE name = '${name}'`;
  const [row] = (await catalog.sql(sql)) as readonly { readonly at: string | null }[];
  return row?.at == null ? null : Number(row.at);
};

/** A table with two snapshots, the second without the files of the first. */
async function create(
  name: string,
  properties: object,
  more: readonly string[] = [],
): Promise<{ readonly first: readonly string[]; readonly second: readonly string[]; readonly location: string }> {
  const location = locationOf(
    await catalog.rest('POST', `${NS}/default/tables`, { body: { name, schema: SCHEMA, properties } }),
  );
  const one = await writeSnapshot(location, 1n, [`${location}/data/a.parquet`, ...more]);
  const two = await writeSnapshot(location, 2n, [`${location}/data/b.parquet`], 1, 2);
  await commit(name, one.update, setMain(1));
  await commit(name, two.update, setMain(2));
  const files = ({ manifest, manifestList, dataFiles }: typeof one): readonly string[] => [
    manifest,
    manifestList,
    ...dataFiles,
  ];
  return { first: files(one), second: files(two), location };
}

test('snapshots expire by themselves where a table asks for it, and with them the files that only they reached', async () => {
  const neighbour = await create('neighbour', {});
  const theirs = neighbour.first.at(-1) ?? '';
  const asks = await create('asks', ASKS, [theirs]);
  const belongs = await create('belongs', { ...ASKS, 'gc.enabled': 'false' });
  const few = await create('few', { 'history.expire.min-snapshots-to-keep': '5', ...ASKS });
  expect(await dueAt('asks')).toBeGreaterThan(clock.nowMs());
  expect([await dueAt('neighbour'), await dueAt('belongs')]).toEqual([null, null]);

  passedMs = 2 * HOUR_MS;
  await expect.poll(() => snapshotsOf('asks'), { timeout: patience(20_000) }).toEqual([2]);
  await expect.poll(() => present(asks.first), { timeout: patience(20_000) }).toEqual([theirs]);
  expect(await present(asks.second)).toEqual(asks.second);
  for (const [name, { first, second }] of Object.entries({ neighbour, belongs, few })) {
    expect([name, await snapshotsOf(name)]).toEqual([name, [1, 2]]);
    expect(await present([...first, ...second])).toEqual([...first, ...second]);
  }
  // While it is looked at, its time is the end of the hold on it.
  for (const name of ['asks', 'few']) {
    await expect.poll(() => dueAt(name), { timeout: patience(20_000) }).toBeGreaterThan(clock.nowMs());
  }
});

test('a reference expires, too; a table that asks for it later is looked at from then on', async () => {
  const { first } = await create('later', {});
  await commit('later', {
    action: 'set-snapshot-ref',
    'ref-name': 'june',
    type: 'tag',
    'snapshot-id': 1,
    'max-ref-age-ms': 10 * HOUR_MS,
  });
  passedMs += 5 * HOUR_MS;
  await commit('later', { action: 'set-properties', updates: ASKS });
  expect(await dueAt('later')).toBeGreaterThan(clock.nowMs());
  passedMs += 6 * HOUR_MS;
  await expect.poll(() => snapshotsOf('later'), { timeout: patience(20_000) }).toEqual([2]);
  expect(Object.keys((await load('later'))['refs'] as JsonObject)).toEqual(['main']);
  await expect.poll(() => present(first), { timeout: patience(20_000) }).toEqual([]);
});

test('a table whose manifests cannot be read does not keep others from expiring, and is tried again', async () => {
  const broken = await create('broken', ASKS);
  await fileStorage.remove([broken.first[1] ?? '']);
  const whole = await create('whole', ASKS);
  passedMs += 20 * HOUR_MS;
  await expect.poll(() => present(whole.first), { timeout: patience(20_000) }).toEqual([]);
  expect(await snapshotsOf('broken')).toEqual([2]);
});
