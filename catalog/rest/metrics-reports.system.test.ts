import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock, type Clock } from '#shared/clock.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { withClient } from '../store/postgres/connect.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';

const TABLES = '/v1/lake/namespaces/default/tables';
const METRICS = `${TABLES}/t/metrics`;
const REPORTS_MAX = 5;
const AGE_MAX_MS = 60_000;
const SCHEMA = { type: 'struct', fields: [{ id: 1, name: 'a', required: false, type: 'long' }] };

let now = Date.now();
const clock: Clock = { nowMs: () => now, monotonicMs: () => systemClock.monotonicMs() };
let catalog: TestCatalog;
beforeAll(async () => {
  catalog = await startTestCatalog(
    { 'catalog.metrics_reports_max': REPORTS_MAX, 'catalog.metrics_report_age_max': AGE_MAX_MS },
    clock,
  );
  for (const name of ['t', 'u']) await catalog.rest('POST', TABLES, { body: { name, schema: SCHEMA } });
});
afterAll(() => catalog?.[Symbol.asyncDispose]());

const scan = (more: JsonObject = {}): JsonObject => ({
  'report-type': 'scan-report',
  'table-name': 'lake.default.t',
  'snapshot-id': 7_051_729_675_574_597_004n,
  filter: { type: 'eq', term: 'a', value: '(1-digit-int)' },
  'schema-id': 0,
  'projected-field-ids': [1],
  'projected-field-names': ['a'],
  metrics: {
    'total-planning-duration': { count: 1, 'time-unit': 'nanoseconds', 'total-duration': 2_644_235_116 },
    'result-data-files': { unit: 'count', value: 1 },
  },
  metadata: { 'engine-name': 'test' },
  ...more,
});
const commit = (more: JsonObject = {}): JsonObject => ({
  'report-type': 'commit-report',
  'table-name': 'lake.default.t',
  'snapshot-id': 1,
  'sequence-number': 2,
  operation: 'append',
  metrics: {},
  ...more,
});
const report = (body: Json, path = METRICS): Promise<RestAnswer> => catalog.rest('POST', path, { body });
const list = async (query = '', path = METRICS): Promise<JsonObject> =>
  (await catalog.rest('GET', `${path}${query}`)).body;
const sequences = (body: JsonObject): Json[] =>
  (body['reports'] as readonly { report: JsonObject }[]).map((one) => one.report['sequence-number'] ?? null);
const typeOf = ({ status, body }: RestAnswer): unknown => [status, (body['error'] as JsonObject)['type']];

describe('metrics reports', () => {
  test('of scans and commits are kept as they came, newest first', async () => {
    expect(await list()).toEqual({ reports: [], 'next-page-token': null });
    expect((await report(scan())).status).toBe(204);
    now += 1;
    expect((await report(commit({ unknown: 'member' }))).status).toBe(204);
    const principal = expect.any(String) as unknown;
    expect(await list()).toEqual({
      reports: [
        { principal, 'reported-at-ms': now, report: { ...commit(), metadata: {} } },
        { principal, 'reported-at-ms': now - 1, report: scan() },
      ],
      'next-page-token': null,
    });
    expect(await list('', `${TABLES}/u/metrics`)).toEqual({ reports: [], 'next-page-token': null });
  });

  test('come in pages; a table keeps the newest, and none that is too old', async () => {
    for (let i = 1; i <= REPORTS_MAX + 2; i += 1) await report(commit({ 'sequence-number': i }));
    expect(sequences(await list())).toEqual([7, 6, 5, 4, 3]);
    const first = await list('?pageSize=2&pageToken=');
    expect(sequences(first)).toEqual([7, 6]);
    const second = await list(`?pageSize=3&pageToken=${first['next-page-token'] as string}`);
    expect(sequences(second)).toEqual([5, 4, 3]);
    for (const token of ['zzz', Buffer.from('after:x').toString('base64url')]) {
      expect(typeOf(await catalog.rest('GET', `${METRICS}?pageToken=${token}`))).toEqual([400, 'BadRequestException']);
    }
    now += AGE_MAX_MS + 1;
    expect(await list()).toEqual({ reports: [], 'next-page-token': null });
    await report(commit());
    const { rows } = await withClient(catalog.config, (client) =>
      client.query('select count(*)::int as n from catalog.metrics_report'),
    );
    expect(rows).toEqual([{ n: 1 }]);
  });

  test.each<[string, Json]>([
    ['nothing', null],
    ['another type', commit({ 'report-type': 'rumour' })],
    ['no snapshot', commit({ 'snapshot-id': null })],
    ['no metrics', commit({ metrics: null })],
    ['a metric that is none', commit({ metrics: { x: 7 } })],
    ['a metric without value', commit({ metrics: { x: { unit: 'count' } } })],
    ['no filter', scan({ filter: null })],
    ['a filter that is none', scan({ filter: { type: 'sounds-like' } })],
    ['no fields', scan({ 'projected-field-ids': null })],
    ['too much', commit({ operation: 'x'.repeat(300_000) })],
  ])('that say %s are refused', async (_what, body) => {
    expect(typeOf(await report(body))).toEqual([400, 'BadRequestException']);
  });

  test('of a table that is not there, or another tenant’s, are not taken', async () => {
    expect(typeOf(await report(commit(), `${TABLES}/none/metrics`))).toEqual([404, 'NoSuchTableException']);
    await catalog.call('CreateTenant', { name: 'rival', admin_user: 'rival_admin', admin_password: 'rival password' });
    const token = await catalog.mint({ tenant: 'rival', user: 'rival_admin' });
    for (const method of ['GET', 'POST']) {
      const answer = await catalog.rest(method, METRICS, { token, ...(method === 'POST' ? { body: commit() } : {}) });
      expect(typeOf(answer)).toEqual([404, 'NoSuchWarehouseException']);
    }
  });

  test('go with their table', async () => {
    await report(commit(), `${TABLES}/u/metrics`);
    expect((await catalog.rest('DELETE', `${TABLES}/u`)).status).toBe(204);
    await catalog.rest('POST', TABLES, { body: { name: 'u', schema: SCHEMA } });
    expect(await list('', `${TABLES}/u/metrics`)).toEqual({ reports: [], 'next-page-token': null });
  });
});
