import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readViewDefinition } from '../../binding/view-definition.ts';
import type { LoadedTable } from '../../binding/table-source.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { sumChanges } from '#shared/iceberg/sum-changes.ts';
import { sumFiles } from '#shared/iceberg/sum-files.ts';
import { limitsHere } from '#shared/iceberg/decode-limits.ts';
import { LruManifestCache } from '#shared/iceberg/manifest-cache.ts';
import type { ReadingPlace } from '#shared/iceberg/scan-request.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { ApiDocument } from '#test/support/api-document.ts';
import { callerOf } from '#test/support/api-fixtures.ts';
import { allowing } from '#test/support/decisions.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { INSPECT_OPERATIONS, inspectedTable, inspectorOf } from '#test/support/inspected-tables.ts';
import type { Caller } from '../../auth/authenticate.ts';
import { documentedApp, type DocumentedApp } from '../http/documented-app.ts';
import { sendError } from '../http/error-reply.ts';
import { inspectRoutes } from './inspect-routes.ts';

let dir: string;
let app: DocumentedApp;
let document: ApiDocument;

const VIEW: LoadedTable = {
  kind: 'view',
  name: { catalog: 'lake', namespace: ['a'], table: 'v' },
  version: '1',
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
  const callers: Readonly<Record<string, Caller>> = {
    good: callerOf('t', 'p', allowing('table.describe', 'view.describe')),
    poor: callerOf('t', 'q', allowing()),
  };
  app = documentedApp({});
  app.decorateRequest('caller', null);
  app.setErrorHandler((error, _request, reply) => sendError(reply, error, silentLogger, true));
  const callerOfRequest = ({
    headers,
  }: {
    readonly headers: { readonly authorization?: string | undefined };
  }): Caller => callers[headers.authorization ?? ''] ?? callerOf('t', 'q', allowing());
  void app.register((routes, _options, done) => {
    inspectRoutes(routes, { inspector, onRequest: () => Promise.resolve(), callerOf: callerOfRequest });
    done();
  });
  await app.ready();
  document = new ApiDocument(app.swagger());
});
afterAll(async () => {
  await app.close();
  await rm(dir, { recursive: true, force: true });
});

async function get(path: string, as = 'good'): Promise<readonly [string, number]> {
  const url = `/api/catalogs/lake/namespaces/a/${path}`;
  const answer = await app.inject({ method: 'GET', url, headers: { authorization: as } });
  const headers = new Headers(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
  const told = { method: 'GET', path: url, status: answer.statusCode, headers, text: answer.payload };
  return [document.check(told) ?? 'none', answer.statusCode];
}

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
  ] as const;
  for (const [path, as] of asked) {
    const [operation, status] = await get(path, as);
    (seen[operation] ??= []).push(status);
  }
  expect(seen).toEqual({
    tableDetails: [200, 403, 404, 400],
    tableSnapshots: [200, 200, 200, 400, 400],
    tableChanges: [200, 400, 400],
    tableFiles: [200, 200, 400],
    tableHealth: [200, 403],
    viewVersions: [200, 400, 404, 403],
  });
  expect(Object.keys(seen).toSorted()).toEqual(INSPECT_OPERATIONS);
});

test('a view has its versions, the newest first', async () => {
  const answer = await app.inject({
    method: 'GET',
    url: '/api/catalogs/lake/namespaces/a/views/v',
    headers: { authorization: 'good' },
  });
  expect(answer.json()).toMatchObject({
    is_materialized: false,
    version_id: 2,
    versions: [
      { version_id: 2, dialect: 'duckdb', sql: 'SELECT 2 AS a', created_at: '1970-01-01T00:00:00.002Z' },
      { version_id: 1 },
    ],
  });
});
