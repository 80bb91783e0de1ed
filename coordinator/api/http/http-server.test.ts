import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { ERRORS, SkeinError } from '#shared/error.ts';
import { principalId, tenantId } from '#shared/id.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { queryMetrics } from '../../query/query-metrics.ts';
import type { QueryService, StatementRequest } from '../../query/query-service.ts';
import { startHttp } from './http-server.ts';
import { openApiDocument } from './openapi.ts';

let url: string;
let close: () => Promise<void>;
let run: (request: StatementRequest) => Promise<void>;
let notReady: string | undefined;
const requests: StatementRequest[] = [];
const cancelled: string[] = [];

const queries: QueryService = {
  execute: (request) => {
    requests.push(request);
    return run(request);
  },
  cancel: (caller, id) => {
    cancelled.push(`${caller.claims.sub}/${id}`);
    return id === '00000000-0000-0000-0000-000000000001';
  },
  quarantined: () => [],
  lift: () => Promise.resolve(false),
};
const zero = (): number => 0;

beforeAll(async () => {
  const claims = { sub: principalId('p'), tenant: tenantId('t'), jti: 'j', preferred_username: 'u' };
  const rest = { iss: '', aud: '', roles: [], sess_epoch: 0, auth_method: 'operator', iat: 0, exp: 0 } as const;
  const metrics = queryMetrics({
    leading: zero,
    running: zero,
    queued: zero,
    workersLive: zero,
    workersKnown: zero,
    sessions: zero,
    historyWaiting: zero,
    metadataCacheBytes: zero,
  });
  const started = await startHttp({
    host: '127.0.0.1',
    port: 0,
    bodyBytesMax: 10_000,
    holdbackBytes: 1_000,
    resultBytesMax: 2_000_000,
    timeoutMsMax: 1_000,
    authenticate: (header) =>
      header === 'Bearer good'
        ? Promise.resolve({ claims: { ...claims, ...rest, scope: '' }, scopes: new Set(['table:read']) })
        : Promise.reject(new SkeinError('UNAUTHENTICATED', 'no')),
    queries,
    tables: {
      list: () => Promise.resolve([]),
      describe: (_caller, path) =>
        Promise.reject(new SkeinError('TABLE_NOT_FOUND', [path.catalog, path.namespace, path.table].join('|'))),
    },
    metrics,
    notReady: () => notReady,
    log: silentLogger,
  });
  url = started.url;
  close = () => started.close();
});
afterAll(() => close());
beforeEach(() => {
  requests.length = 0;
  run = async ({ sink }) => {
    sink.start([{ name: 'a', typeName: 'BIGINT' }]);
    await sink.rows(Buffer.from(',[1],[2]'));
    await sink.rows(Buffer.from(',[3]'));
    sink.finish({ rowCount: 3, elapsedMs: 1.6 });
  };
});

const headers = { authorization: 'Bearer good', 'content-type': 'application/json' };
const post = (body: unknown, more: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/api/query`, {
    method: 'POST',
    headers: { ...headers, ...more },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

test('the body has exactly the five members, in order, and the answer names its query', async () => {
  const answer = await post({ sql: 'select 1', timeout_ms: 500 });
  expect(await answer.text()).toBe(
    '{"columns":["a"],"types":["BIGINT"],"rows":[[1],[2],[3]],"row_count":3,"elapsed_ms":2}',
  );
  expect(answer.headers.get('content-type')).toContain('application/json');
  expect(answer.headers.get('x-skein-query-id')).toBe(requests[0]?.queryId);
  expect(requests[0]).toMatchObject({
    sql: 'select 1',
    timeoutMs: 500,
    source: null,
    session: { kind: 'token', id: 'j' },
  });
});

test('the headers name query, session and source', async () => {
  const [id, session] = [randomUUID(), randomUUID()];
  const more = { 'x-skein-query-id': id, 'x-skein-session': session, 'x-skein-source': 'etl' };
  const answer = await post({ sql: 'x' }, more);
  expect(answer.headers.get('x-skein-query-id')).toBe(id);
  expect(requests[0]).toMatchObject({ queryId: id, source: 'etl', session: { kind: 'named', id: session } });
});

test.each<[string, unknown, Record<string, string>, keyof typeof ERRORS]>([
  ['no JSON', '{', {}, 'INVALID_REQUEST'],
  ['no object', '[1]', {}, 'INVALID_REQUEST'],
  ['null', 'null', {}, 'INVALID_REQUEST'],
  ['an empty body', '', {}, 'INVALID_REQUEST'],
  ['a prototype', '{"__proto__":{"sql":"x"}}', {}, 'INVALID_REQUEST'],
  ['no sql', {}, {}, 'INVALID_REQUEST'],
  ['sql that is no string', { sql: 1 }, {}, 'INVALID_REQUEST'],
  ['an unknown member', { sql: 'x', timeoutMs: 1 }, {}, 'INVALID_REQUEST'],
  ['a timeout of 0', { sql: 'x', timeout_ms: 0 }, {}, 'INVALID_REQUEST'],
  ['a timeout that is too long', { sql: 'x', timeout_ms: 1_001 }, {}, 'INVALID_REQUEST'],
  ['a timeout of half a millisecond', { sql: 'x', timeout_ms: 0.5 }, {}, 'INVALID_REQUEST'],
  ['another content type', { sql: 'x' }, { 'content-type': 'text/plain' }, 'INVALID_REQUEST'],
  ['a query id that is no UUID', { sql: 'x' }, { 'x-skein-query-id': 'x' }, 'INVALID_REQUEST'],
  ['a session that is no UUID', { sql: 'x' }, { 'x-skein-session': 'x' }, 'INVALID_REQUEST'],
  ['a long body', { sql: 'x'.repeat(20_000) }, {}, 'PAYLOAD_TOO_LARGE'],
  ['no token', { sql: 'x' }, { authorization: '' }, 'UNAUTHENTICATED'],
])('%s is refused', async (_name, body, more, code) => {
  const answer = await post(body, more);
  expect(answer.status).toBe(ERRORS[code].http);
  expect(await answer.json()).toMatchObject({
    error: code,
    sql_state: ERRORS[code].sqlState,
    message: expect.any(String),
  });
  expect(answer.headers.get('x-skein-query-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(requests).toEqual([]);
});

test('an error within the head keeps its status; a later one breaks the connection', async () => {
  const failing =
    (bytes: number) =>
    async ({ sink }: StatementRequest) => {
      sink.start([]);
      for (let i = 0; i < bytes / 100; i += 1) await sink.rows(Buffer.from(`,["${'x'.repeat(95)}"]`));
      throw new SkeinError('DIVISION_BY_ZERO', 'division by zero');
    };
  run = failing(900);
  const early = await post({ sql: 'x' });
  expect([early.status, await early.json()]).toEqual([
    400,
    { error: 'DIVISION_BY_ZERO', message: 'division by zero', sql_state: '22012' },
  ]);
  run = failing(2_000);
  await expect(post({ sql: 'x' }).then((answer) => answer.text())).rejects.toThrow();
});

test('a result over its limit is refused', async () => {
  run = async ({ sink }) => {
    sink.start([]);
    await sink.rows(Buffer.alloc(3_000_000, 'x'));
  };
  expect(await (await post({ sql: 'x' })).json()).toMatchObject({ error: 'RESULT_TOO_LARGE' });
});

test('a client that reads slowly holds the rows back; one that leaves ends the statement', async () => {
  let written = 0;
  let reason: unknown;
  run = async ({ sink, clientGone }) => {
    clientGone.addEventListener('abort', () => void (reason = clientGone.reason));
    sink.start([]);
    for (let i = 0; i < 30; i += 1) {
      await sink.rows(Buffer.alloc(60_000, 'x'));
      written += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await new Promise((_resolve, reject) => {
      clientGone.addEventListener('abort', () => reject(clientGone.reason as Error));
    });
  };
  const request = httpRequest(`${url}/api/query`, { method: 'POST', headers });
  request.on('error', () => undefined);
  request.on('response', (response) => response.pause());
  request.end(JSON.stringify({ sql: 'x' }));
  await vi.waitFor(() => expect(written).toBeGreaterThan(0));
  await new Promise((resolve) => setTimeout(resolve, 100));
  request.destroy();
  await vi.waitFor(() => expect(reason).toMatchObject({ code: 'QUERY_CANCELLED' }));
});

test('a client that leaves before the first row ends the statement', async () => {
  let reason: unknown;
  run = ({ clientGone }) =>
    new Promise((_resolve, reject) => {
      clientGone.addEventListener('abort', () => {
        reason = clientGone.reason;
        reject(clientGone.reason);
      });
    });
  const leave = new AbortController();
  const answer = fetch(`${url}/api/query`, { method: 'POST', headers, body: '{"sql":"x"}', signal: leave.signal });
  await vi.waitFor(() => expect(requests).toHaveLength(1));
  leave.abort();
  await expect(answer).rejects.toThrow();
  await vi.waitFor(() => expect(reason).toMatchObject({ code: 'QUERY_CANCELLED' }));
});

test('DELETE answers 204 or 404', async () => {
  const remove = (id: string, authorization = 'Bearer good'): Promise<Response> =>
    fetch(`${url}/api/query/${id}`, { method: 'DELETE', headers: { ...headers, authorization } });
  expect((await remove('00000000-0000-0000-0000-000000000001')).status).toBe(204);
  expect(cancelled).toEqual(['p/00000000-0000-0000-0000-000000000001']);
  for (const id of [randomUUID(), 'x', '..%2F']) {
    const answer = await remove(id);
    expect([answer.status, await answer.json()]).toEqual([404, expect.objectContaining({ error: 'QUERY_NOT_FOUND' })]);
  }
  expect((await remove(randomUUID(), '')).status).toBe(401);
});

test('metadata paths answer 404 for what is missing, 403 without the scope, and take namespaces of several levels', async () => {
  const get = (path: string): Promise<Response> => fetch(`${url}${path}`, { headers });
  const missing = await get('/api/catalogs/lake/namespaces/a%1Fb/tables/t%20x');
  expect([missing.status, await missing.json()]).toEqual([
    404,
    { error: 'TABLE_NOT_FOUND', message: 'lake|a\x1Fb|t x', sql_state: '42P01' },
  ]);
  const forbidden = await get('/api/tables');
  expect([forbidden.status, await forbidden.json()]).toEqual([403, expect.objectContaining({ sql_state: '42501' })]);
});

test('unknown paths and methods answer in the same shape', async () => {
  for (const [method, path] of [
    ['GET', '/nothing'],
    ['PUT', '/api/query'],
    ['GET', '/api/query'],
    ['POST', '/%ZZ'],
  ] as const) {
    const answer = await fetch(`${url}${path}`, { method, headers });
    expect(answer.status, path).toBeGreaterThanOrEqual(400);
    expect(Object.keys((await answer.json()) as object)).toEqual(['error', 'message', 'sql_state']);
  }
});

test('health, readiness and metrics are open', async () => {
  expect((await fetch(`${url}/health`)).status).toBe(200);
  notReady = 'no worker';
  expect((await fetch(`${url}/health/ready`)).status).toBe(503);
  notReady = undefined;
  expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('skein_queries_running 0');
});

test('the OpenAPI document names every route, and every error has its status', async () => {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as typeof openApiDocument;
  expect(document).toEqual(JSON.parse(JSON.stringify(openApiDocument)));
  expect(Object.keys(document.paths)).toHaveLength(8);
  const responses = document.paths['/api/query'].post.responses as unknown as Record<string, { description: string }>;
  expect(Object.keys(responses)).toEqual(
    expect.arrayContaining(['200', '400', '401', '403', '408', '413', '429', '499', '500', '503', '507']),
  );
  expect(responses['408']?.description).toContain('QUERY_TIMEOUT');
});
