import { afterAll, beforeAll, expect, test } from 'vitest';
import { fileStorage } from '#test/support/file-storage.ts';
import { errorOf, NS } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { avroContainer, exponentialSchema } from '#test/support/hostile-avro.ts';
import { catalogPost, createHostileTable } from '#test/support/hostile-table.ts';
import { writeSnapshot } from '#test/support/table-snapshot.ts';
import { patience } from '#test/support/run/slowness.ts';

/** A purge that fails every time is parked; an operator sees it and has it retried. */
const RETRY_WAIT_MS = 50;
/** Long enough for many retries. */
const QUIET_MS = 1_500;
const HOSTILE = avroContainer(exponentialSchema(8, 6), [{ count: 1, bytes: new Uint8Array(20) }]);

type Job = { readonly id: string; readonly [key: string]: string };
let catalog: TestCatalog;

beforeAll(async () => {
  catalog = await startTestCatalog({
    'catalog.background_interval': 50,
    'catalog.job_retry_wait': RETRY_WAIT_MS,
    'catalog.background_hold': 1_000,
  });
});
afterAll(() => catalog?.[Symbol.asyncDispose]());

const jobs = async (): Promise<readonly Job[]> => (await catalog.call<{ jobs: readonly Job[] }>('ListJobs', {})).jobs;
const metric = async (name: string): Promise<number> => {
  const { body } = await catalog.rest('GET', '/metrics');
  const line = (body['text'] as string).split('\n').find((one) => one.startsWith(name));
  return Number(line?.split(' ').at(-1) ?? Number.NaN);
};
const parked = (): Promise<number> => metric('skein_catalog_jobs_parked{job="purge"}');
const failures = (): Promise<number> => metric('skein_catalog_purge_failures_total');
const purge = async (name: string): Promise<void> => {
  expect((await catalog.rest('DELETE', `${NS}/default/tables/${name}?purgeRequested=true`)).status).toBe(204);
};

test('a purge that fails three times is parked, named with its reason, and tried again when an operator says so', async () => {
  const post = catalogPost(catalog.running.url, 'lake', catalog.token);
  const { manifests, location } = await createHostileTable(post, 'hostile', [HOSTILE]);
  expect(await parked()).toBe(0);
  await purge('hostile');
  await expect.poll(jobs, { timeout: patience(20_000) }).toHaveLength(1);
  const [job] = await jobs();
  expect(job).toMatchObject({ kind: 'purge', tenant: 'default', object: 'lake.default.hostile' });
  expect(job?.['reason']).toContain(manifests[0]);
  expect(job?.['reason']).toContain('steps');
  expect(await parked()).toBe(1);
  expect(await failures()).toBe(3);
  const { body } = await catalog.rest('GET', '/v1/lake/dropped-tables');
  expect(body['dropped-tables']).toMatchObject([{ name: 'hostile', state: 'purge-failed' }]);

  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  expect(await failures()).toBe(3);

  // Retried without a change it is parked again; retried after the cause is gone it succeeds.
  expect(await catalog.call('RetryJobs', { id: job?.id ?? '' })).toEqual({ jobs: 1 });
  await expect.poll(failures, { timeout: patience(20_000) }).toBe(6);
  await expect.poll(parked).toBe(1);
  await fileStorage.remove([manifests[0] ?? '']);
  expect(await catalog.call('RetryJobs', { id: '' })).toEqual({ jobs: 1 });
  await expect.poll(parked, { timeout: patience(20_000) }).toBe(0);
  await expect.poll(() => fileStorage.exists(`${location}/metadata/snap.avro`)).toBe(false);
  await expect(catalog.call('RetryJobs', { id: job?.id ?? '' })).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
  await expect(catalog.call('RetryJobs', { id: 'none' })).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
});

test('a purge that processes died of is parked, and not taken again', async () => {
  const created = await catalog.rest('POST', `${NS}/default/tables`, {
    body: { name: 'deadly', schema: { type: 'struct', fields: [{ id: 1, name: 'a', required: false, type: 'long' }] } },
  });
  const { location } = created.body['metadata'] as unknown as { location: string };
  const { dataFiles, update } = await writeSnapshot(location, 1n, [`${location}/data/a.parquet`]);
  expect((await catalog.rest('POST', `${NS}/default/tables/deadly`, { body: { updates: [update] } })).status).toBe(200);
  // The state after three processes that died during the purge.
  await catalog.sql(
    'create function catalog.as_after_crashes() returns trigger language plpgsql as $$ begin new.failures = 3; new.attempts = 3; return new; end $$',
  );
  await catalog.sql(
    'create trigger as_after_crashes before insert on catalog.dropped_table for each row execute function catalog.as_after_crashes()',
  );
  await purge('deadly');
  await catalog.sql('drop trigger as_after_crashes on catalog.dropped_table');
  await expect.poll(jobs, { timeout: patience(20_000) }).toHaveLength(1);
  expect((await jobs())[0]?.['reason']).toContain('ended while it ran');
  expect(await fileStorage.exists(dataFiles[0] ?? '')).toBe(true);
  await catalog.restart();
  expect(await parked()).toBe(1);
  await catalog.call('RetryJobs', { id: '' });
  await expect.poll(parked, { timeout: patience(20_000) }).toBe(0);
  await expect.poll(() => fileStorage.exists(dataFiles[0] ?? '')).toBe(false);
});

test('other background work goes on while a purge is parked', async () => {
  const post = catalogPost(catalog.running.url, 'lake', catalog.token);
  await createHostileTable(post, 'stuck', [HOSTILE]);
  await createHostileTable(post, 'plain', []);
  await purge('stuck');
  await expect.poll(jobs, { timeout: patience(20_000) }).toHaveLength(1);
  await purge('plain');
  await expect
    .poll(async () => (await catalog.sql("select 1 from catalog.dropped_table where name = 'plain'")).length, {
      timeout: 20_000,
    })
    .toBe(0);
  expect(errorOf(await catalog.rest('GET', `${NS}/default/tables/stuck`))[0]).toBe(404);
});
