import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startFaultyCluster, type FaultyCluster } from '#test/support/faulty-cluster.ts';
import { OTHER_STORE_MS } from '#test/support/other-stores.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Renames that views follow, whose files lie in a store that is slow or fails. */
let faulty: FaultyCluster;

const VIEWS = 30;
/** How long the store takes for each request: the files of all views, one after another, would take 24 s. */
const DELAY_MS = 800;

beforeAll(async () => {
  faulty = await startFaultyCluster({ seed: 3 });
  const sessionId = randomUUID();
  const sql = (text: string) => faulty.cluster.sql(text, { sessionId });
  await sql('CREATE SCHEMA cloud.old');
  await sql('USE cloud.old');
  await sql('CREATE TABLE t AS SELECT 7 AS a');
  for (let i = 0; i < VIEWS; i++) await sql(`CREATE VIEW v${i} AS SELECT a + ${i} AS a FROM t`);
}, OTHER_STORE_MS);
afterAll(() => faulty?.[Symbol.asyncDispose]());

const rename = async (from: string, to: string): Promise<string> => {
  const { body } = await faulty.cluster.query(`ALTER SCHEMA cloud.${from} RENAME TO ${to}`, { timeoutMs: 120_000 });
  return body.error ?? 'done';
};
const lastOf = (schema: string) => faulty.cluster.sql(`SELECT a FROM cloud.${schema}.v${VIEWS - 1}`);
const LAST = [[6 + VIEWS]];

test('a rename whose views lie in a slow store lets others make schemas meanwhile', async () => {
  const { cluster, proxy } = faulty;
  proxy.set({ delayMs: DELAY_MS });
  const over = new AbortController();
  const renamed = rename('old', 'new').finally(() => over.abort());
  let slowestMs = 0;
  for (let i = 0; !over.signal.aborted; i++) {
    const begunMs = performance.now();
    await cluster.sql(`CREATE SCHEMA cloud.other${i}`);
    slowestMs = Math.max(slowestMs, performance.now() - begunMs);
  }
  proxy.set({});
  expect(await renamed).toBe('done');
  expect(slowestMs).toBeLessThan(patience(3_000));
  expect(await lastOf('new')).toEqual(LAST);
});

test('of two renames at once one is made, and the other leaves no file', async () => {
  const { proxy } = faulty;
  const before = (await faulty.objects()).length;
  proxy.set({ delayMs: 100 });
  const answers = await Promise.all([rename('new', 'left'), rename('new', 'right')]);
  proxy.set({});
  expect(answers.toSorted()).toEqual(['SCHEMA_NOT_FOUND', 'done']);
  const now = answers[0] === 'done' ? 'left' : 'right';
  expect(await lastOf(now)).toEqual(LAST);
  expect((await faulty.objects()).length).toBe(before + VIEWS);
  expect(await rename(now, 'kept')).toBe('done');
});

test('a rename that the store refuses changes nothing', async () => {
  const { proxy } = faulty;
  const before = await faulty.objects();
  proxy.set({ refused: 1 });
  expect(await rename('kept', 'moved')).toBe('STORAGE_ERROR');
  proxy.set({});
  expect(await lastOf('kept')).toEqual(LAST);
  expect(await faulty.objects()).toEqual(before);
});
