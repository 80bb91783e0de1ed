import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readViewDefinition } from '../../binding/view-definition.ts';
import type { LoadedTable } from '../../binding/table-source.ts';
import { sumChanges } from '#shared/iceberg/sum-changes.ts';
import { sumFiles } from '#shared/iceberg/sum-files.ts';
import { limitsHere } from '#shared/iceberg/decode-limits.ts';
import { LruManifestCache } from '#shared/iceberg/manifest-cache.ts';
import type { ReadingPlace } from '#shared/iceberg/scan-request.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { callerOf } from '#test/support/api-fixtures.ts';
import { allowing } from '#test/support/decisions.ts';
import { DocumentedRoutes } from '#test/support/documented-routes.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { INSPECT_OPERATIONS, inspectedTable, inspectorOf } from '#test/support/inspected-tables.ts';
import { inspectRoutes } from './inspect-routes.ts';

let dir: string;
let routes: DocumentedRoutes;

const VIEW: LoadedTable = {
  kind: 'view',
  name: { catalog: 'lake', namespace: ['a'], table: 'v' },
  version: '1',
  oid: 16_384,
  actions: new Set(['table.describe']),
  view: readViewDefinition({
    'view-uuid': 'v',
    'current-version-id': 2,
    schemas: [{ type: 'struct', 'schema-id': 0, fields: [{ id: 1, name: 'a', required: false, type: 'long' }] }],
    versions: [1, 2].map((id) => ({
      'version-id': id,
      'timestamp-ms': id,
      'schema-id': 0,
      summary: {},
      representations: [{ type: 'sql', dialect: 'duckdb', sql: `SELECT ${id} AS a` }],
      'default-namespace': ['a'],
    })),
    properties: {},
  }),
};

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'skein-inspect-routes-'));
  const table = await inspectedTable(
    dir,
    [
      { id: 1, parent: null, timestampMs: 1, sequence: 1, manifests: [[[0, 1, 10]]] },
      { id: 2, parent: 1, timestampMs: 2, sequence: 2, manifests: [[[0, 1, 10]], [[1, 2, 20]]] },
    ],
    { 'current-snapshot-id': 2, refs: { main: { 'snapshot-id': 2, type: 'branch' } } },
  );
  const place: ReadingPlace = {
    io: openStorage(table.metadata.location, FILE_CREDENTIAL),
    manifestCaches: new LruManifestCache(2 ** 20),
    limits: limitsHere(),
    largeManifests: 'read',
  };
  const found: Readonly<Record<string, LoadedTable>> = { t: table, v: VIEW };
  const inspector = inspectorOf(
    { sums: (request) => sumFiles(place, request, false), changes: (request) => sumChanges(place, request, false) },
    ({ table: name }) => found[name] ?? { kind: 'missing', code: 'TABLE_NOT_FOUND' },
  );
  const callers = {
    good: callerOf('t', 'p', allowing('table.describe', 'view.describe', 'table.list')),
    poor: callerOf('t', 'q', allowing()),
  };
  routes = new DocumentedRoutes(callers, (app, parts) => inspectRoutes(app, { inspector, ...parts }));
});
afterAll(async () => {
  await routes[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

test('every operation answers as the OpenAPI document says, when it succeeds and when it fails', async () => {
  const seen: Record<string, number[]> = {};
  const asked = [
    ['tables/t/details'],
    ['tables/t/details', 'poor'],
    ['tables/gone/details'],
    ['tables/v/details'],
    ['tables/t/snapshots'],
    ['tables/t/snapshots?limit=1&fold=true'],
    ['tables/t/snapshots?page_token=2'],
    ['tables/t/snapshots?page_token=7'],
    ['tables/t/snapshots?limit=0'],
    ['tables/t/changes?from=1&to=main'],
    ['tables/t/changes?from=1'],
    ['tables/t/changes?from=1&to=june'],
    ['tables/t/files'],
    ['tables/t/files?ref=1'],
    ['tables/t/files?ref=june'],
    ['tables/t/health'],
    ['tables/t/health', 'poor'],
    ['views/v'],
    ['views/t'],
    ['views/gone'],
    ['views/v', 'poor'],
    ['/api/catalogs/lake/dropped-tables?limit=1'],
    ['/api/catalogs/gone/dropped-tables'],
    ['/api/catalogs/lake/dropped-tables?limit=0'],
    ['/api/catalogs/lake/dropped-tables', 'poor'],
  ] as const;
  for (const [path, as] of asked) {
    const url = path.startsWith('/') ? path : `/api/catalogs/lake/namespaces/a/${path}`;
    const { operation, status } = await routes.ask(url, as === undefined ? {} : { as });
    (seen[operation] ??= []).push(status);
  }
  expect(seen).toEqual({
    tableDetails: [200, 403, 404, 400],
    tableSnapshots: [200, 200, 200, 400, 400],
    tableChanges: [200, 400, 400],
    tableFiles: [200, 200, 400],
    tableHealth: [200, 403],
    viewVersions: [200, 400, 404, 403],
    droppedTables: [200, 404, 400, 403],
  });
  expect(Object.keys(seen).toSorted()).toEqual(INSPECT_OPERATIONS);
});

test('a view has its versions, the newest first', async () => {
  const answer = await routes.ask('/api/catalogs/lake/namespaces/a/views/v');
  expect(JSON.parse(answer.text)).toMatchObject({
    is_materialized: false,
    version_id: 2,
    versions: [
      { version_id: 2, dialect: 'duckdb', sql: 'SELECT 2 AS a', created_at: '1970-01-01T00:00:00.002Z' },
      { version_id: 1 },
    ],
  });
});
