import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiDocument } from '#test/support/api-document.ts';
import { callerOf, view } from '#test/support/api-fixtures.ts';
import type { Caller } from '../../auth/authenticate.ts';
import { clusterView } from '../../observe/cluster-view.ts';
import { GroupAdmission, type Place } from '../../workload/admission.ts';
import { readWorkload } from '../../workload/read-workload.ts';
import { clusterRoutes } from './cluster-routes.ts';
import { documentedApp } from './documented-app.ts';
import { answerError, toSkeinError } from './error-reply.ts';
import { groupRoutes } from './group-routes.ts';

const WORKLOAD = `
resource_groups:
  - name: root
    groups:
      - {name: etl, hard_concurrency_limit: 1, soft_memory_limit_bytes: 5000, soft_cpu_limit_ms: 70, scheduling_weight: 3}
      - {name: acme_only, scheduling_policy: query_priority}
      - {name: unreached}
      - name: \${TENANT}
        groups: [{name: "\${USER}"}]
routing_rules:
  - {match_source: etl, target_group: root.etl}
  - {match_tenant: acme, match_source: special, target_group: root.acme_only}
  - {target_group: 'root.\${TENANT}.\${USER}'}
`;

const admission = new GroupAdmission({
  workload: readWorkload(WORKLOAD, 'w.yaml'),
  memory: { reservations: { interactive: 1, medium: 2, batch: 4 }, interactiveShare: 0.25 },
  memoryBytes: () => 1_000_000,
  clock: { nowMs: () => 0, monotonicMs: () => 1 },
});
const app = documentedApp({});
let document: ApiDocument;
/** The caller of the next requests. */
let caller: Caller;

/** Asks for a place for a query; the returned promise is of the place. */
function admit(tenant: string, username: string, source: string | null = null): Promise<Place> {
  return admission.admit({
    statement: { tenant, principal: username, username, source, resourcePool: '', queryType: 'select' },
    classification: { workClass: 'interactive', reasons: [], estimatedRows: 1, isSet: false },
    memoryLimitBytes: 1_000,
    signal: new AbortController().signal,
    onRouted: () => undefined,
    onReclassified: () => undefined,
  });
}

beforeAll(async () => {
  app.setErrorHandler((error, _request, reply) => answerError(reply, toSkeinError(error), false));
  void app.register((routes, _options, done) => {
    const pool = { states: () => [], open: () => [], pairs: { apart: [] } };
    const term = clusterView({
      coordinatorId: 'c',
      epoch: 1,
      activeSinceMs: 0,
      admission,
      pool,
      workload: { problem: null },
    });
    const onRequest = (): Promise<void> => Promise.resolve();
    groupRoutes(routes, { view: term, onRequest, callerOf: () => caller });
    clusterRoutes(routes, { view, onRequest, callerOf: () => caller });
    done();
  });
  await app.ready();
  document = new ApiDocument(app.swagger());
});
afterAll(async () => {
  admission[Symbol.dispose]();
  await app.close();
});

/** Answers status and body, checked against the OpenAPI document. */
async function get(
  path: string,
  asking: string | Caller = 'acme',
): Promise<{ readonly status: number; readonly body: unknown }> {
  caller = typeof asking === 'string' ? callerOf(asking) : asking;
  const { statusCode: status, headers, payload: text } = await app.inject({ method: 'GET', url: path });
  const given = new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  document.check({ method: 'GET', path, status, headers: given, text });
  return { status, body: JSON.parse(text) as unknown };
}

type Groups = { readonly resource_groups: readonly Readonly<Record<string, unknown>>[]; readonly total: number };
const groupsOf = async (tenant: string, query = ''): Promise<Groups> =>
  (await get(`/api/resource-groups${query}`, tenant)).body as Groups;
const paths = ({ resource_groups: groups }: Groups): unknown[] => groups.map(({ path }) => path);

describe('resource groups', () => {
  test('have their limits, and count what runs and waits in them or below', async () => {
    const place = await admit('acme', 'ann', 'etl');
    place.worked({ rows: 1, scheduledMs: 60 });
    const waiting = admit('rival', 'bob', 'etl');
    expect((await get('/api/resource-groups/root.etl')).body).toEqual({
      path: 'root.etl',
      running: 1,
      queued: 1,
      hard_concurrency_limit: 1,
      soft_concurrency_limit: 100,
      effective_concurrency: 1,
      max_queued_queries: 1000,
      memory_bytes: 1,
      soft_memory_limit_bytes: 5000,
      soft_cpu_limit_ms: 70,
      hard_cpu_limit_ms: null,
      scheduling_policy: 'fair',
      scheduling_weight: 3,
      cpu_time_ms: 60,
      cpu_usage_ms: 60,
    });
    expect((await get('/api/resource-groups/root', 'rival')).body).toMatchObject({ running: 1, queued: 1 });
    place.release();
    (await waiting).release();
  });

  test('a tenant sees those that its rules reach, and its own of templates', async () => {
    const places = await Promise.all([admit('acme', 'ann.lee'), admit('rival', 'bob')]);
    expect(paths(await groupsOf('acme'))).toEqual([
      'root',
      'root.etl',
      'root.acme_only',
      'root.acme',
      'root.acme.ann%2Elee',
    ]);
    expect(paths(await groupsOf('rival'))).toEqual(['root', 'root.etl', 'root.rival', 'root.rival.bob']);
    expect((await get(`/api/resource-groups/${encodeURIComponent('root.acme.ann%2Elee')}`)).status).toBe(200);
    for (const path of [
      'root.rival.bob',
      'root.rival',
      'root.unreached',
      'root.%2e%2e',
      'root.etl%00',
      'x'.repeat(99),
    ]) {
      expect([path, (await get(`/api/resource-groups/${path}`)).status]).toEqual([path, 404]);
    }
    for (const place of places) place.release();
  });

  test('come in pages', async () => {
    expect([paths(await groupsOf('acme', '?limit=1&offset=1')), (await groupsOf('acme', '?limit=1')).total]).toEqual([
      ['root.etl'],
      3,
    ]);
    expect(paths(await groupsOf('acme', '?offset=1000000'))).toEqual([]);
  });

  test.each([
    'limit=0',
    'limit=501',
    'limit=x',
    'limit=1e2',
    'limit=1&limit=2',
    'offset=-1',
    'offset=1000001',
    'offset=',
  ])('%s is refused', async (query) => {
    for (const path of ['/api/resource-groups', '/api/cluster']) {
      expect(await get(`${path}?${query}`)).toMatchObject({ status: 400, body: { error: 'INVALID_REQUEST' } });
    }
  });
});

test('the cluster has a page of its workers', async () => {
  const { body } = await get('/api/cluster?limit=1&offset=1');
  expect(body).toMatchObject({ queries_running: 1, queries_queued: 2, total: 2 });
  expect((body as { readonly workers: unknown }).workers).toMatchObject([
    { name: null, state: 'connecting', slots: null },
  ]);
});

test('only the operator is told what is wrong with the workload file: that names paths and groups', async () => {
  const administrator = callerOf('acme', 'p', new Map([['query.list', { allowed: true }]]));
  const withPassword: Caller = { ...administrator, claims: { ...administrator.claims, auth_method: 'password' } };
  const told = async (asking: Caller): Promise<unknown> =>
    ((await get('/api/cluster', asking)).body as { readonly workload_file_problem?: unknown }).workload_file_problem;
  expect(await told(administrator)).toBe('workload.yaml is gone');
  expect(await told(withPassword)).toBeUndefined();
  expect(await told(callerOf('acme'))).toBeUndefined();
});

test('only the operator is told which workers do not reach each other', async () => {
  const administrator = callerOf('acme', 'p', new Map([['query.list', { allowed: true }]]));
  expect((await get('/api/cluster', administrator)).body).toMatchObject({ workers_apart: ['one - other'] });
  expect((await get('/api/cluster', callerOf('acme'))).body).not.toHaveProperty('workers_apart');
});
