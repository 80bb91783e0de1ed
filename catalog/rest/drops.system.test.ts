import { mkdir, mkdtemp, readdir, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import type { JsonObject } from '#shared/json.ts';
import { fileStorage } from '#test/support/file-storage.ts';
import { errorOf, locationOf, metadataOf, NS, SCHEMA, setMain, snapshot } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import { writeSnapshot, type SnapshotFiles } from '#test/support/table-snapshot.ts';
import { patience } from '#test/support/run/slowness.ts';

const DAY_MS = 86_400_000;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() };
let catalog: TestCatalog;
beforeAll(async () => {
  const soon = { 'catalog.background_interval': 100, 'catalog.job_retry_wait': 2_000 };
  catalog = await startTestCatalog({ ...soon, 'catalog.token_ttl': 30 * DAY_MS }, clock);
});
afterAll(() => catalog[Symbol.asyncDispose]());

const get = (path: string): Promise<RestAnswer> => catalog.rest('GET', path);
const post = (path: string, body: unknown = {}): Promise<RestAnswer> => catalog.rest('POST', path, { body });
const drop = (name: string, query = ''): Promise<RestAnswer> =>
  catalog.rest('DELETE', `${NS}/default/tables/${name}${query}`);
const create = (name: string, more: object = {}): Promise<RestAnswer> =>
  post(`${NS}/default/tables`, { name, schema: SCHEMA, ...more });
const commit = async (name: string, ...updates: object[]): Promise<RestAnswer> => {
  const answer = await post(`${NS}/default/tables/${name}`, { updates });
  expect(answer.status).toBe(200);
  return answer;
};
const window = (ms: number): Promise<unknown> =>
  catalog.call('AlterCatalog', { name: 'lake', undrop_window_ms: String(ms) });
const dropped = async (): Promise<JsonObject[]> =>
  (await get('/v1/lake/dropped-tables')).body['dropped-tables'] as JsonObject[];
const purged = (name: string): Promise<void> =>
  expect
    .poll(async () => (await dropped()).filter((table) => table['name'] === name), { timeout: patience(30_000) })
    .toEqual([]);
const present = async (files: readonly string[]): Promise<readonly string[]> => {
  const there = await Promise.all(files.map(async (file) => (await fileStorage.resolve(file)) !== undefined));
  return files.filter((_file, i) => there[i]);
};
const filesOf = ({ manifest, manifestList, dataFiles }: SnapshotFiles): string[] => [
  manifest,
  manifestList,
  ...dataFiles,
];

/** Creates a table with two snapshots on disk, statistics and several metadata files; returns all the files that it reaches. */
async function tableWithFiles(name: string, more: object = {}): Promise<{ location: string; files: string[] }> {
  const created = await create(name, more);
  const location = locationOf(created);
  const first = await writeSnapshot(location, 9_007_199_254_740_993n, [
    `${location}/data/a.parquet`,
    `${location}/data/p=1/b.parquet`,
  ]);
  const second = await writeSnapshot(location, 2n, [`${location}/data/c.parquet`], 9_007_199_254_740_993n, 2);
  const statistics = `${location}/metadata/stats.puffin`;
  await fileStorage.write(statistics, Buffer.from('stats'));
  const a = await commit(name, first.update, setMain(9_007_199_254_740_993n));
  const b = await commit(name, second.update, setMain(2));
  const c = await commit(name, {
    action: 'set-statistics',
    statistics: {
      'snapshot-id': 2,
      'statistics-path': statistics,
      'file-size-in-bytes': 5,
      'file-footer-size-in-bytes': 5,
      'blob-metadata': [],
    },
  });
  const metadata = [created, a, b, c].map(({ body }) => body['metadata-location'] as string);
  const files = [...filesOf(first), ...filesOf(second), statistics, ...metadata];
  expect(await present(files)).toEqual(files);
  return { location, files };
}

describe('a drop', () => {
  test('leaves the files; with purgeRequested exactly the files that the metadata reaches are deleted', async () => {
    const kept = await tableWithFiles('kept');
    expect((await drop('kept')).status).toBe(204);
    const { location, files } = await tableWithFiles('purged');
    const stranger = `${location}/data/not-of-the-table.parquet`;
    await fileStorage.write(stranger, Buffer.from('x'));
    expect((await drop('purged', '?purgeRequested=true')).status).toBe(204);
    expect(errorOf(await get(`${NS}/default/tables/purged`))[1]).toBe('NoSuchTableException');
    await purged('purged');
    expect(await present(files)).toEqual([]);
    expect(await present([stranger])).toEqual([stranger]);
    // A folder is removed with its last file.
    expect(await present([`${location}/metadata`, `${location}/data/p=1`, `${location}/data`])).toEqual([
      `${location}/data`,
    ]);
    await fileStorage.remove([stranger]);
    expect(await present(kept.files)).toEqual(kept.files);
  });

  test('never deletes what lies outside of the table’s own folders, or of the roots', async () => {
    const other = await tableWithFiles('neighbour');
    const outside = await mkdtemp(join(tmpdir(), 'skein-outside-'));
    await writeFile(join(outside, 'precious'), 'x');
    const { location, files } = await tableWithFiles('greedy');
    const wanted = [
      `file://${outside}/precious`,
      `${location}/../../../../..${outside}/precious`,
      other.files.at(-1) ?? '',
      `${other.location}/data/a.parquet`,
      `${location}/../${other.location.split('/').at(-1)}/data/c.parquet`,
    ];
    const foreign = await writeSnapshot(location, 3n, wanted.slice(0, 1), 2, 3);
    const inner = await writeSnapshot(location, 4n, wanted.slice(1), 3, 4);
    await commit('greedy', foreign.update, setMain(3));
    await commit('greedy', inner.update, setMain(4));
    expect((await drop('greedy', '?purgeRequested=true')).status).toBe(204);
    await purged('greedy');
    expect(await present(files)).toEqual([]);
    expect(await present([`file://${outside}/precious`])).toHaveLength(1);
    expect(await present(other.files)).toEqual(other.files);
    expect((await get(`${NS}/default/tables/neighbour`)).status).toBe(200);
  });

  test('ends although the metadata names folders as files', async () => {
    const location = locationOf(await create('folders'));
    const folder = `${location.replace('file://', '')}/data/inner`;
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'unknown'), 'x');
    const listed = await writeSnapshot(location, 3n, [`${location}/data/file`]);
    await fileStorage.remove([`${location}/data/file`]);
    await mkdir(`${folder}/../file`);
    await commit('folders', listed.update, setMain(3));
    const noList = { ...snapshot(location, 4, 3, 2) } as { snapshot: object };
    await commit('folders', {
      ...noList,
      snapshot: { ...noList.snapshot, 'manifest-list': `${location}/data/inner` },
    });
    expect((await drop('folders', '?purgeRequested=true')).status).toBe(204);
    await purged('folders');
    expect(await readdir(folder), 'what no metadata names stays').toEqual(['unknown']);
  });

  test('follows no symbolic link', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'skein-outside-'));
    await writeFile(join(outside, 'precious.parquet'), 'x');
    const created = await create('linked');
    const location = locationOf(created);
    const data = `${location.replace('file://', '')}/data`;
    const { update } = await writeSnapshot(location, 3n, [`${location}/data/precious.parquet`]);
    await rm(data, { recursive: true });
    await symlink(outside, data);
    await commit('linked', update, setMain(3));
    await drop('linked', '?purgeRequested=true');
    await purged('linked');
    expect(await readdir(outside)).toEqual(['precious.parquet']);
    expect(await present([created.body['metadata-location'] as string])).toEqual([]);
    await rm(outside, { recursive: true });
  });

  test('with gc.enabled=false a purge leaves the data', async () => {
    const { files } = await tableWithFiles('imported', { properties: { 'gc.enabled': 'false' } });
    await drop('imported', '?purgeRequested=true');
    await purged('imported');
    expect(await present(files)).toEqual(files.filter((file) => file.endsWith('.parquet')));
  });

  test('a purge passes over manifests that are gone or broken', async () => {
    const { location, files } = await tableWithFiles('broken');
    await fileStorage.remove([`${location}/metadata/snap-2.avro`]);
    await fileStorage.remove([`${location}/metadata/9007199254740993-m0.avro`]);
    await fileStorage.write(`${location}/metadata/9007199254740993-m0.avro`, Buffer.from('no avro'));
    await drop('broken', '?purgeRequested=true');
    await purged('broken');
    const left = [`${location}/data/a.parquet`, `${location}/data/p=1/b.parquet`];
    // Left over: the file that only the broken manifest names, and a manifest that only the lost list names, with its file.
    expect(await present(files)).toEqual([...left, `${location}/metadata/2-m0.avro`, `${location}/data/c.parquet`]);
  });

  test('a purge that fails is tried again, and one that was cut short goes on after a restart', async () => {
    const { location, files } = await tableWithFiles('stubborn');
    const folder = `${location}/data/p=1`.replace('file://', '');
    // The folder is replaced by a link to itself: nothing can be read there.
    await fileStorage.remove([`${folder}/b.parquet`]);
    await rmdir(folder);
    await symlink(folder, folder);
    await drop('stubborn', '?purgeRequested=true');
    await expect
      .poll(async () => (await dropped()).find((table) => table['name'] === 'stubborn')?.['error'], {
        timeout: patience(20_000),
      })
      .toContain('cannot access');
    expect((await dropped()).find((table) => table['name'] === 'stubborn')).toMatchObject({ state: 'purging' });
    await catalog.restart();
    await fileStorage.remove([folder]);
    await purged('stubborn');
    expect(await present(files)).toEqual([]);
  });

  test('a word other than true or false is 400', async () => {
    await create('word');
    expect((await drop('word', '?purgeRequested=yes')).status).toBe(400);
    expect((await get(`${NS}/default/tables/word`)).status).toBe(200);
  });
});

describe('the UNDROP window', () => {
  test('a dropped table comes back whole, and nobody takes its place meanwhile', async () => {
    await window(DAY_MS);
    const { location, files } = await tableWithFiles('undone');
    const loaded = await get(`${NS}/default/tables/undone`);
    await drop('undone', '?purgeRequested=true');
    expect((await get(`${NS}/default/tables/undone`)).status).toBe(404);
    expect((await get(`${NS}/default/tables`)).body['identifiers']).not.toContainEqual({
      namespace: ['default'],
      name: 'undone',
    });
    expect(await dropped()).toMatchObject([
      {
        namespace: ['default'],
        name: 'undone',
        state: 'dropped',
        'dropped-by': 'admin',
        'purge-requested': true,
      },
    ]);
    expect(errorOf(await create('squatter', { location }))[0]).toBe(400);
    expect(errorOf(await create('squatter', { location: `${location}/inside` }))[0]).toBe(400);
    expect(await present(files)).toEqual(files);
    const back = await post(`${NS}/default/tables/undone/undrop`);
    expect(back).toMatchObject({ status: 200, body: loaded.body });
    expect((await get(`${NS}/default/tables/undone`)).body).toEqual(loaded.body);
    await commit('undone', { action: 'set-properties', updates: { after: 'all' } });
    expect(errorOf(await post(`${NS}/default/tables/undone/undrop`))).toEqual([
      404,
      'NoSuchTableException',
      'Dropped table does not exist: default.undone',
    ]);
  });

  test('of several of one name the last comes back, or the one that is named, also under another name', async () => {
    const uuids = [];
    for (let i = 0; i < 3; i += 1) {
      uuids.push(metadataOf(await create('twice'))['table-uuid']);
      await drop('twice');
    }
    const ids = (await dropped())
      .filter(({ name }) => name === 'twice')
      .toSorted((a, b) => (a['dropped-at'] as string).localeCompare(b['dropped-at'] as string))
      .map(({ id }) => id);
    const undrop = (body: object): Promise<RestAnswer> => post(`${NS}/default/tables/twice/undrop`, body);
    expect(metadataOf(await undrop({}))['table-uuid']).toBe(uuids[2]);
    expect(errorOf(await undrop({ id: ids[0] ?? null }))).toEqual([
      409,
      'AlreadyExistsException',
      'Table already exists: default.twice',
    ]);
    const destination = { namespace: ['default'], name: 'first' };
    expect(metadataOf(await undrop({ id: ids[0] ?? null, destination }))['table-uuid']).toBe(uuids[0]);
    expect((await undrop({ id: 'x' })).status).toBe(400);
    expect((await undrop({ destination: { namespace: ['none'], name: 'x' } })).status).toBe(404);
    expect((await dropped()).map(({ id }) => id)).toContain(ids[1]);
  });

  test('when it ends the files go if a purge was asked for, and the table can no more be had', async () => {
    const purgedLater = await tableWithFiles('late-purge');
    const kept = await tableWithFiles('late-drop');
    await drop('late-purge', '?purgeRequested=true');
    await drop('late-drop');
    expect(await present(purgedLater.files)).toEqual(purgedLater.files);
    passedMs += DAY_MS + 1;
    await purged('late-purge');
    await purged('late-drop');
    expect(await present(purgedLater.files)).toEqual([]);
    expect(await present(kept.files)).toEqual(kept.files);
    expect((await post(`${NS}/default/tables/late-drop/undrop`)).status).toBe(404);
    expect((await create('heir', { location: kept.location })).status).toBe(200);
    await window(0);
  });

  test('a table that the background work takes up in the same moment does not come back', async () => {
    await window(DAY_MS);
    await create('snatched');
    await drop('snatched');
    const [table] = (await dropped()).filter(({ name }) => name === 'snatched');
    const id = table?.['id'] as string;
    const taken = catalog.sql(
      `begin; update catalog.dropped_table set attempts = 1 where id = '${id}'; select pg_sleep(2); commit`,
    );
    await expect
      .poll(async () =>
        JSON.stringify(await catalog.sql(`select 1 from pg_stat_activity where wait_event = 'PgSleep'`)),
      )
      .not.toBe('[]');
    const answer = await post(`${NS}/default/tables/snatched/undrop`);
    await taken;
    expect(errorOf(answer)[1]).toBe('NoSuchTableException');
    await window(0);
  });

  test('lists of dropped tables come in pages', async () => {
    await window(DAY_MS);
    for (let i = 0; i < 5; i += 1) {
      await create(`page${i}`);
      await drop(`page${i}`);
    }
    const all = await dropped();
    const seen: unknown[] = [];
    let token: string | null = '';
    while (token !== null) {
      const { body }: RestAnswer = await get(`/v1/lake/dropped-tables?pageSize=2&pageToken=${token}`);
      seen.push(...(body['dropped-tables'] as JsonObject[]));
      token = body['next-page-token'] as string | null;
    }
    expect(seen).toEqual(all);
    const strange = Buffer.from('after:x').toString('base64url');
    expect((await get(`/v1/lake/dropped-tables?pageToken=${strange}`)).status).toBe(400);
    await window(0);
  });
});

describe('unregister', () => {
  test('returns the last metadata, leaves every file, and the table can be registered again', async () => {
    const { files } = await tableWithFiles('leaving');
    const loaded = await get(`${NS}/default/tables/leaving`);
    const answer = await post(`${NS}/default/tables/leaving/unregister`);
    expect(answer).toMatchObject({ status: 200 });
    const { config, ...last } = loaded.body;
    expect(config).toEqual({});
    expect(answer.body).toEqual(last);
    expect(errorOf(await post(`${NS}/default/tables/leaving/unregister`))).toEqual([
      404,
      'NoSuchTableException',
      'Table does not exist: default.leaving',
    ]);
    expect((await post(`${NS}/default/tables/leaving`, { updates: [] })).status).toBe(404);
    expect(await present(files)).toEqual(files);
    expect(await dropped()).not.toContainEqual(expect.objectContaining({ name: 'leaving' }));
    const back = { name: 'back', 'metadata-location': loaded.body['metadata-location'] };
    expect((await post(`${NS}/default/register`, back)).body).toEqual(loaded.body);
  });
});

describe('protection', () => {
  test('a protected table is not dropped, unregistered or overwritten until the property goes', async () => {
    const created = await create('guarded', { properties: { 'skein.protected': 'true' } });
    const file = created.body['metadata-location'];
    const refusal = [
      403,
      'ForbiddenException',
      'Table default.guarded is protected: remove its property skein.protected first',
    ];
    expect(errorOf(await drop('guarded'))).toEqual(refusal);
    expect(errorOf(await drop('guarded', '?purgeRequested=true'))).toEqual(refusal);
    expect(errorOf(await post(`${NS}/default/tables/guarded/unregister`))).toEqual(refusal);
    const overwrite = { name: 'guarded', 'metadata-location': file, overwrite: true };
    expect(errorOf(await post(`${NS}/default/register`, overwrite))).toEqual(refusal);
    expect((await get(`${NS}/default/tables/guarded`)).body).toEqual(created.body);
    await commit('guarded', { action: 'remove-properties', removals: ['skein.protected'] });
    expect((await drop('guarded')).status).toBe(204);
  });

  test('a protected namespace is not dropped', async () => {
    await post(NS, { namespace: ['guarded'], properties: { 'skein.protected': 'TRUE' } });
    expect(errorOf(await catalog.rest('DELETE', `${NS}/guarded`)).slice(0, 2)).toEqual([403, 'ForbiddenException']);
    await post(`${NS}/guarded/properties`, { removals: ['skein.protected'] });
    expect((await catalog.rest('DELETE', `${NS}/guarded`)).status).toBe(204);
  });
});

test('metadata files that fall out of the log are deleted where the table asks for it', async () => {
  const created = await create('trimmed', {
    properties: { 'write.metadata.previous-versions-max': '2', 'write.metadata.delete-after-commit.enabled': 'true' },
  });
  const made = [created.body['metadata-location'] as string];
  for (let i = 0; i < 5; i += 1) {
    const answer = await commit('trimmed', { action: 'set-properties', updates: { i: String(i) } });
    made.push(answer.body['metadata-location'] as string);
  }
  const log = metadataOf(await get(`${NS}/default/tables/trimmed`))['metadata-log'] as JsonObject[];
  expect(log.map((entry) => entry['metadata-file'])).toEqual(made.slice(-3, -1));
  const folder = `${locationOf(created).replace('file://', '')}/metadata`;
  const left = made.slice(-3).map((file) => file.split('/').at(-1));
  expect(new Set(await readdir(folder))).toEqual(new Set(left));
});
