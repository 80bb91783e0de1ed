import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock, type Clock } from '#shared/clock.ts';
import { parseSchema, type Schema } from '#shared/iceberg/schema.ts';
import { encodeBound } from '#shared/iceberg/single-value.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import { newManifestFile, writeManifest, writeManifestList } from '#test/support/manifest-files.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { fileStorage } from '#test/support/file-storage.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';

const TABLES = '/v1/lake/namespaces/default/tables';
const FILES_PER_TASK = 100;
const PLAN_TTL_MS = 60_000;
const SCHEMA = {
  type: 'struct',
  'schema-id': 0,
  fields: [
    { id: 1, name: 'id', required: false, type: 'long' },
    { id: 2, name: 'name', required: false, type: 'string' },
  ],
};

let now = Date.now();
const clock: Clock = { nowMs: () => now, monotonicMs: () => systemClock.monotonicMs() };
let catalog: TestCatalog;
beforeAll(async () => {
  catalog = await startTestCatalog(
    {
      'catalog.plan_files_per_task': FILES_PER_TASK,
      'catalog.plan_files_max': 400,
      'catalog.plan_ttl': PLAN_TTL_MS,
      'catalog.plans_per_table_max': 3,
    },
    clock,
  );
});
afterAll(() => catalog?.[Symbol.asyncDispose]());

const post = (path: string, body: unknown, token?: string): Promise<RestAnswer> =>
  catalog.rest('POST', path, { body, ...(token === undefined ? {} : { token }) });

/** Describes a data file of ten rows with ids from `i * 10` on. */
const dataFile = (location: string, i: number): NewDataFile => {
  const bound = (value: number): Uint8Array => must(encodeBound({ kind: 'long' }, BigInt(value)), 'a long has bounds');
  return {
    path: `${location}/data/${i}.parquet`,
    recordCount: 10,
    sizeBytes: 1_000,
    partition: [],
    columnSizes: new Map([[1, 80]]),
    valueCounts: new Map([[1, 10]]),
    nullCounts: new Map([[1, 0]]),
    nanCounts: new Map(),
    lower: new Map([[1, bound(i * 10)]]),
    upper: new Map([[1, bound(i * 10 + 9)]]),
    splitOffsets: [4],
  };
};

/** Creates a table whose one snapshot lists `count` files that nothing reads. */
async function tableOfFiles(name: string, count: number): Promise<void> {
  const created = (await post(TABLES, { name, schema: SCHEMA })).body['metadata'] as JsonObject;
  const location = created['location'] as string;
  const schema: Schema = parseSchema(SCHEMA);
  const spec = { specId: 0, fields: [] };
  const files = Array.from({ length: count }, (_, i) => dataFile(location, i));
  const path = `${location}/metadata/m.avro`;
  const manifest = writeManifest(schema, spec, 1n, files);
  await fileStorage.write(path, manifest);
  const list = writeManifestList({ snapshotId: 1n, parentSnapshotId: null, sequenceNumber: 1n }, [
    newManifestFile(schema, spec, 1n, { path, lengthBytes: manifest.length, files }),
  ]);
  const manifestList = `${location}/metadata/list.avro`;
  await fileStorage.write(manifestList, list);
  const snapshot = {
    'snapshot-id': 1,
    'sequence-number': 1,
    'timestamp-ms': now,
    'manifest-list': manifestList,
    summary: { operation: 'append' },
  };
  const committed = await post(`${TABLES}/${name}`, {
    requirements: [],
    updates: [
      { action: 'add-snapshot', snapshot },
      { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': 1 },
    ],
  });
  expect(committed.status).toBe(200);
}

const filesOf = ({ body }: RestAnswer): string[] =>
  (body['file-scan-tasks'] as readonly { 'data-file': { 'file-path': string } }[]).map((task) =>
    task['data-file']['file-path'].replace(/^.*\/|\.parquet$/g, ''),
  );
const tasksOf = ({ body }: RestAnswer): string[] => (body['plan-tasks'] ?? []) as string[];
const plan = (name: string, body: unknown = {}): Promise<RestAnswer> => post(`${TABLES}/${name}/plan`, body);
const fetchTask = (name: string, task: Json, token?: string): Promise<RestAnswer> =>
  post(`${TABLES}/${name}/tasks`, { 'plan-task': task }, token);
const noPlan = [404, 'NoSuchPlanIdException'];
const noTask = [404, 'NoSuchPlanTaskException'];
const errorOf = ({ status, body }: RestAnswer): [number, string, string] => {
  const { type, message } = body['error'] as { type: string; message: string };
  return [status, type, message];
};
const kindOf = (answer: RestAnswer): unknown => errorOf(answer).slice(0, 2);

describe('scan planning', () => {
  test('a table without data has an empty plan', async () => {
    await post(TABLES, { name: 'empty', schema: SCHEMA });
    const { status, body } = await plan('empty', { filter: { type: 'eq', term: 'id', value: 3 } });
    expect([status, body]).toEqual([
      200,
      {
        status: 'completed',
        'plan-id': expect.stringMatching(/^whole-/) as unknown,
        'delete-files': [],
        'file-scan-tasks': [],
      },
    ]);
  });

  test('the files that may match come at once, with what a reader needs', async () => {
    await tableOfFiles('small', 20);
    const filter = {
      type: 'and',
      left: { type: 'gt-eq', term: 'id', value: 42 },
      right: { type: 'lt', term: 'id', value: 50 },
    };
    const answer = await plan('small', {
      filter,
      select: ['id'],
      'stats-fields': ['id', 'name'],
      'min-rows-requested': 1,
    });
    expect(answer.body).toMatchObject({
      status: 'completed',
      'file-scan-tasks': [
        {
          'data-file': {
            content: 'data',
            'file-format': 'parquet',
            'file-size-in-bytes': 1000,
            'record-count': 10,
            'spec-id': 0,
            partition: [],
            'split-offsets': [4],
            'column-sizes': { keys: [1], values: [80] },
            'value-counts': { keys: [1], values: [10] },
            'null-value-counts': { keys: [1], values: [0] },
            'lower-bounds': { keys: [1], values: ['2800000000000000'] },
            'upper-bounds': { keys: [1], values: ['3100000000000000'] },
          },
          'residual-filter': filter,
        },
      ],
    });
    expect(filesOf(answer)).toEqual(['4']);
    const withoutStats = (await plan('small')).body['file-scan-tasks'] as readonly JsonObject[];
    expect(withoutStats).toHaveLength(20);
    expect(withoutStats[0]).toMatchObject({ 'residual-filter': true });
    expect(withoutStats[0]?.['data-file']).not.toHaveProperty('lower-bounds');
    // Nothing is stored for it: cancelling succeeds, and there is nothing to fetch.
    const id = answer.body['plan-id'] as string;
    expect((await catalog.rest('DELETE', `${TABLES}/small/plan/${id}`)).status).toBe(204);
    expect(kindOf(await catalog.rest('GET', `${TABLES}/small/plan/${id}`))).toEqual(noPlan);
  });

  test('many files come in portions, each once, also after a restart', async () => {
    await tableOfFiles('large', 350);
    const first = await plan('large', { filter: { type: 'gt-eq', term: 'id', value: 20 } });
    expect(tasksOf(first)).toHaveLength(3);
    expect(filesOf(first)).toHaveLength(FILES_PER_TASK);
    const id = first.body['plan-id'] as string;
    const seen = filesOf(first);
    for (const task of tasksOf(first).slice(0, 2)) seen.push(...filesOf(await fetchTask('large', task)));
    await catalog.restart();
    seen.push(...filesOf(await fetchTask('large', must(tasksOf(first)[2], 'three tasks'))));
    expect(seen).toEqual(Array.from({ length: 348 }, (_, i) => String(i + 2)));
    const again = await catalog.rest('GET', `${TABLES}/large/plan/${id}`);
    expect([again.body['status'], filesOf(again), tasksOf(again)]).toEqual([
      'completed',
      filesOf(first),
      tasksOf(first),
    ]);

    expect((await catalog.rest('DELETE', `${TABLES}/large/plan/${id}`)).status).toBe(204);
    expect(kindOf(await catalog.rest('DELETE', `${TABLES}/large/plan/${id}`))).toEqual(noPlan);
    expect(kindOf(await catalog.rest('GET', `${TABLES}/large/plan/${id}`))).toEqual(noPlan);
    expect(kindOf(await fetchTask('large', must(tasksOf(first)[0], 'three tasks')))).toEqual(noTask);
  });

  test('plan tasks belong to their table and its tenant, and are no others than those that were given out', async () => {
    const answer = await plan('large');
    const id = answer.body['plan-id'] as string;
    const task = must(tasksOf(answer)[0], 'four tasks');
    await catalog.call('CreateTenant', { name: 'rival', admin_user: 'rival_admin', admin_password: 'rival password' });
    const rival = await catalog.mint({ tenant: 'rival', user: 'rival_admin' });
    expect(kindOf(await fetchTask('small', task))).toEqual(noTask);
    expect(kindOf(await fetchTask('large', task, rival))).toEqual([404, 'NoSuchWarehouseException']);
    expect(kindOf(await post(`${TABLES}/large/plan`, {}, rival))).toEqual([404, 'NoSuchWarehouseException']);
    for (const [method, path] of [
      ['GET', `${TABLES}/large/plan/${id}`],
      ['DELETE', `${TABLES}/large/plan/${id}`],
    ] as const) {
      expect(kindOf(await catalog.rest(method, path, { token: rival }))).toEqual([404, 'NoSuchWarehouseException']);
      expect(kindOf(await catalog.rest(method, path.replace('large', 'small')))).toEqual(noPlan);
    }
    for (const forged of ['', 'x', id, `${id}.4`, `${id}.-1`, `${id}.1.1`, `${id}.1e0`, task.replace(/^./, 'g')]) {
      expect(kindOf(await fetchTask('large', forged)), forged).toEqual(noTask);
    }
    expect((await fetchTask('large', task)).status).toBe(200);
    for (const body of [{}, [], { 'plan-task': 1 }]) {
      expect((await post(`${TABLES}/large/tasks`, body)).status).toBe(400);
    }
  });

  test('plans expire, and a table keeps the newest few', async () => {
    const plans: RestAnswer[] = [];
    for (let i = 0; i < 5; i += 1) {
      now += 1;
      plans.push(await plan('large'));
    }
    const statuses = [];
    for (const one of plans) {
      statuses.push((await catalog.rest('GET', `${TABLES}/large/plan/${one.body['plan-id'] as string}`)).status);
    }
    expect(statuses).toEqual([404, 404, 200, 200, 200]);
    now += PLAN_TTL_MS + 1;
    const last = must(plans.at(-1), 'five plans');
    expect(kindOf(await fetchTask('large', must(tasksOf(last)[0], 'tasks')))).toEqual(noTask);
  });

  test('asked for twice with one idempotency key are one plan, cancelled once', async () => {
    const headers = { 'idempotency-key': '01936a5e-7c00-7000-8000-0000000000aa' };
    const first = await catalog.rest('POST', `${TABLES}/large/plan`, { body: {}, headers });
    const second = await catalog.rest('POST', `${TABLES}/large/plan`, { body: {}, headers });
    expect([second.status, second.body]).toEqual([first.status, first.body]);
    const path = `${TABLES}/large/plan/${first.body['plan-id'] as string}`;
    const cancel = { headers: { 'idempotency-key': '01936a5e-7c00-7000-8000-0000000000ab' } };
    expect((await catalog.rest('DELETE', path, cancel)).status).toBe(204);
    expect((await catalog.rest('DELETE', path, cancel)).status).toBe(204);
    expect(kindOf(await catalog.rest('DELETE', path))).toEqual(noPlan);
  });

  test.each<[string, JsonObject, string]>([
    ['an unknown column', { filter: { type: 'eq', term: 'none', value: 1 } }, "Cannot find field 'none'"],
    ['an unknown selection', { select: ['none'] }, "Cannot find field 'none'"],
    ['another case', { select: ['ID'] }, "Cannot find field 'ID'"],
    ['a value of another type', { filter: { type: 'eq', term: 'id', value: 'x' } }, 'is no value of type long'],
    ['no expression', { filter: { type: 'like', term: 'id' } }, 'unknown type like'],
    ['an unknown snapshot', { 'snapshot-id': 2 }, 'Cannot find snapshot with ID 2'],
    ['a snapshot that is no number', { 'snapshot-id': '1' }, 'Cannot parse to a long value'],
    ['half of an interval', { 'end-snapshot-id': 1 }, 'go together'],
    ['both kinds of scan', { 'snapshot-id': 1, 'start-snapshot-id': 1, 'end-snapshot-id': 1 }, 'excludes'],
    ['a negative hint', { 'min-rows-requested': -1 }, 'negative'],
  ])('refuses %s', async (_what, body, message) => {
    const [status, type, text] = errorOf(await plan('small', body));
    expect([status, type]).toEqual([400, 'BadRequestException']);
    expect(text).toContain(message);
  });

  test('a scan of too many files is left to the client', async () => {
    await tableOfFiles('huge', 401);
    expect(errorOf(await plan('huge'))).toEqual([
      406,
      'UnsupportedOperationException',
      'a scan of more than 400 files is not supported',
    ]);
    expect(filesOf(await plan('huge', { filter: { type: 'lt', term: 'id', value: 10 } }))).toEqual(['0']);
  });

  test('case does not matter when the client says so, and an empty interval has no files', async () => {
    const filter = { type: 'lt', term: 'ID', value: 10 };
    expect(filesOf(await plan('small', { filter, 'case-sensitive': false, 'use-snapshot-schema': true }))).toEqual([
      '0',
    ]);
    expect(filesOf(await plan('small', { 'start-snapshot-id': 1, 'end-snapshot-id': 1 }))).toEqual([]);
    expect(kindOf(await plan('none'))).toEqual([404, 'NoSuchTableException']);
  });
});

test('a plan that takes long is submitted, and fetched when it is done', async () => {
  await using slow = await startTestCatalog({ 'catalog.plan_wait': 1 });
  const previous = catalog;
  catalog = slow;
  try {
    await tableOfFiles('slow', 20_000);
    const submitted = await plan('slow');
    expect(submitted.body).toEqual({ status: 'submitted', 'plan-id': expect.any(String) as unknown });
    const path = `${TABLES}/slow/plan/${submitted.body['plan-id'] as string}`;
    let answer = await slow.rest('GET', path);
    for (let i = 0; i < 300 && answer.body['status'] === 'submitted'; i += 1) {
      await sleep(20);
      answer = await slow.rest('GET', path);
    }
    expect(answer.body['status']).toBe('completed');
    expect(tasksOf(answer)).toHaveLength(9);
    expect(filesOf(answer)).toHaveLength(2_000);
    const cancelled = await plan('slow', { filter: { type: 'gt', term: 'id', value: 5 } });
    const other = `${TABLES}/slow/plan/${cancelled.body['plan-id'] as string}`;
    expect((await slow.rest('DELETE', other)).status).toBe(204);
    expect(kindOf(await slow.rest('GET', other))).toEqual(noPlan);
  } finally {
    catalog = previous;
  }
});
