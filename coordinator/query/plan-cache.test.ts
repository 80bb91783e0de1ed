import { beforeEach, expect, test } from 'vitest';
import type { StatementContext } from '#proto/task.ts';
import { parseTableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { PrepareRequest } from '../planner/prepare-query.ts';
import type { Planner } from '../planner/planner.ts';
import type { PreparedQuery } from '../planner/prepared-query.ts';
import type { LoadedTable, TableSource } from '../resolver/table-source.ts';
import { cachedPrepare, type CachedPrepare } from './plan-cache.ts';

const name = { catalog: 'lake', namespace: ['default'], table: 't' };
const schema = { type: 'struct', 'schema-id': 0, fields: [] };
const metadata = parseTableMetadata(
  JSON.stringify({
    'format-version': 2,
    'table-uuid': 'u',
    location: 'file:///t',
    schemas: [schema],
    'current-schema-id': 0,
  }),
);
const found = (metadataLocation: string): LoadedTable => ({
  kind: 'found',
  name,
  metadataLocation,
  metadata,
  allowedRoots: [],
});
const missing: LoadedTable = { kind: 'missing', code: 'TABLE_NOT_FOUND' };
const context: StatementContext = {
  nowMicros: '0',
  timeZone: 'UTC',
  currentUser: 'u',
  currentCatalog: 'lake',
  currentSchema: 'default',
};

let table: LoadedTable;
let prepared: string[];
let prepare: CachedPrepare;

const tables: TableSource = { loadTables: (names) => Promise.resolve(names.map(() => table)) };
const request = (sql: string, changes: Partial<StatementContext> = {}): PrepareRequest => ({
  sql,
  offset: 0,
  context: { ...context, ...changes },
  tables,
  planner: {} as Planner,
  signal: new AbortController().signal,
});

beforeEach(() => {
  table = found('m1');
  prepared = [];
  prepare = cachedPrepare(async ({ sql, tables: source, signal }) => {
    prepared.push(sql);
    if (sql.includes('t')) await source.loadTables([name], signal);
    const features = { joins: 0, windows: 0, aggregates: 0, scans: 0, estimatedRows: 0 };
    return { columns: [], plan: null, workerSql: [sql], scans: [], features } satisfies PreparedQuery;
  }, 2);
});

test('a statement that comes again is not planned again, while its tables stay as they were', async () => {
  const first = await prepare(request('from t'), 'o');
  expect(await prepare(request('from t'), 'o')).toBe(first);
  table = found('m2');
  await prepare(request('from t'), 'o');
  table = missing;
  await prepare(request('from t'), 'o');
  expect(prepared).toHaveLength(3);
});

test('another owner, user, schema or time zone has a plan of its own', async () => {
  await prepare(request('from t'), 'o');
  await prepare(request('from t'), 'p');
  await prepare(request('from t', { timeZone: 'Asia/Tokyo' }), 'o');
  await prepare(request('from t', { currentSchema: 'x' }), 'o');
  await prepare(request('from t', { currentUser: 'x' }), 'o');
  expect(prepared).toHaveLength(5);
});

test.each([
  'select now()',
  'select CURRENT_DATE',
  'select age(d)',
  'select localtime',
  'select get_current_timestamp()',
])('%s is planned each time', async (sql) => {
  await prepare(request(sql), 'o');
  await prepare(request(sql), 'o');
  expect(prepared).toHaveLength(2);
});

test('the plans used least recently go first; long statements are not kept', async () => {
  for (const sql of ['1', '2', '1', '3', '1', '2']) await prepare(request(sql), 'o');
  expect(prepared).toEqual(['1', '2', '3', '2']);
  const long = 'x'.repeat(20_000);
  await prepare(request(long), 'o');
  await prepare(request(long), 'o');
  expect(prepared).toHaveLength(6);
});
