// long file: every operation is called here, over one server, and compared with the document
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { Newcomers, newcomerLimits } from '#shared/newcomers/newcomers.ts';
import { ERRORS, SkeinError } from '#shared/error.ts';
import { principalId, tenantId } from '#shared/id.ts';
import { must } from '#shared/must.ts';
import { ADMINISTER_OPERATIONS, NO_PRINCIPALS } from '#test/support/documented-routes.ts';
import { INSPECT_OPERATIONS, noTables } from '#test/support/inspected-tables.ts';
import { noStages, STAGE_OPERATIONS } from '#test/support/no-stages.ts';
import { silentLogger } from '#shared/log/logger.ts';
import type { HistoryRequest } from '../history/history-request.ts';
import { queryMetrics } from '../query/query-metrics.ts';
import type { Caller } from '../auth/authenticate.ts';
import type { QueryService, StatementRequest } from '../query/query-service.ts';
import { ApiDocument } from '#test/support/api-document.ts';
import { BROWSE, eventHub, historyEntry, KILL, liveQuery, T0, view } from '#test/support/api-fixtures.ts';
import { tableFromIPC } from 'apache-arrow';
import { allowing } from '#test/support/decisions.ts';
import type { ResultBatch, ResultShape, DoorSink } from '../sink/result-sink.ts';
import { encodeMade, numberColumns } from '../sink/made-rows.ts';
import { KeptResults } from '../result/kept-results.ts';
import { httpApp, startHttp, type HttpOptions } from './http-server.ts';
import type { TableApi } from './http/table-api.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

let url: string;
let close: () => Promise<void>;
let run: (request: StatementRequest) => Promise<void>;
let describeTable: TableApi['describe'];
let notReady: string | undefined;
/** The OpenAPI document as the server serves it; every answer in this file is checked against it. */
let document: ApiDocument;
const requests: StatementRequest[] = [];
const [cancelled, endedSessions]: [string[], string[]] = [[], []];
const queries: QueryService = {
  execute: (request) => {
    requests.push(request);
    return run(request);
  },
  describe: ({ sql }) =>
    sql === 'bad'
      ? Promise.reject(new SkeinError('SYNTAX_ERROR', 'no', { position: 0 }))
      : Promise.resolve({
          kind: 'rows',
          tag: 'SELECT',
          columns: [COLUMN],
          parameters: [{ name: '1', type: COLUMN.type }],
        }),
  session: () => ({
    role: null,
    settings: [{ name: 'skein.distribution', value: 'auto', isSet: false }],
    transaction: { state: 'open', mayWrite: false },
  }),
  timeoutMs: () => 1_000,
  cursors: () => {
    throw new Error('HTTP has no portals');
  },
  endSession: async ({ id }) => void endedSessions.push(id),
  find: (caller, id) =>
    id === '00000000-0000-0000-0000-000000000001'
      ? {
          ...liveQuery(caller.claims.sub, 3),
          state: 'queued',
          startedAtMs: null,
          waiting: { position: 2, reason: 'root.etl runs 4 of 4', resourceGroup: '/root/etl' },
        }
      : null,
  cancel: (caller, id) => {
    cancelled.push(`${caller.claims.sub}/${id}`);
    return id === '00000000-0000-0000-0000-000000000001';
  },
  live: (caller, { limit, owner, state }) => {
    const queries = [liveQuery(caller.claims.sub, limit)];
    return { queries: owner === null && state !== 'queued' ? queries : [], total: 1 };
  },
  quarantined: () => [KILL],
  lift: (_caller, id) => Promise.resolve(id === QUARANTINED),
};
const historyRequests: HistoryRequest[] = [];
const QUARANTINED = KILL.id;
/** Resolves when the second page of the list of tables may come. */
let moreTables: Promise<void> = Promise.resolve();
/** Whether a body waits for a thread to read it. */
let threadsAreTaken = false;
const events = eventHub();
const kept = new KeptResults({
  ttlMs: 60_000,
  bytesMax: 1_000,
  bytesInAllMax: 10_000,
  memoryBytesMax: 500,
  perPrincipalMax: 3,
  folder: tmpdir(),
});
const zero = (): number => 0;
/** The query of a result that is kept. */
const KEPT = randomUUID();
const BODY_BYTES_MAX = 100_000;
/** More than the buffers of two sockets hold. */
const RESULT_BYTES_MAX = 64_000_000;

function options(): HttpOptions {
  const claims = { sub: principalId('p'), tenant: tenantId('t'), jti: 'j', preferred_username: 'u' };
  const rest = { iss: '', aud: '', roles: [], sess_epoch: 0, auth_method: 'operator', iat: 0, exp: 0 } as const;
  const metrics = queryMetrics({
    leading: zero,
    running: zero,
    queued: zero,
    workersLive: zero,
    pairsApart: zero,
    workersKnown: zero,
    sessions: zero,
    workloadValid: zero,
    historyWaiting: zero,
    metadataCacheBytes: zero,
    fileListBytes: zero,
  });
  const decisions: Readonly<Record<string, Caller['decisions']>> = {
    'Bearer good': allowing('schema.list', 'table.list', 'table.describe', 'query.read', 'query.stop', 'stats.read'),
    'Bearer poor': allowing(),
    'Bearer other': allowing('query.read', 'query.stop', 'stats.read'),
    'Bearer operator': allowing('quarantine.list', 'quarantine.lift'),
    'Bearer administrator': allowing('table.list'),
  };
  const ofOthers: Readonly<Record<string, object>> = { 'Bearer other': { tenant: tenantId('other') } };
  return {
    host: '127.0.0.1',
    port: 0,
    bodyBytesMax: BODY_BYTES_MAX,
    bodiesBytesMax: 4 * BODY_BYTES_MAX,
    newcomers: new Newcomers(newcomerLimits(defaultConfig({}))),
    requestTimeoutMs: 1_000,
    holdbackBytes: 1_000,
    browse: BROWSE,
    inspector: noTables(),
    administer: NO_PRINCIPALS,
    resultBytesMax: RESULT_BYTES_MAX,
    timeoutMsMax: 1_000,
    authenticate: (header) => {
      const found = decisions[header ?? ''];
      return found === undefined
        ? Promise.reject(new SkeinError('UNAUTHENTICATED', 'no'))
        : Promise.resolve({
            claims: { ...claims, ...rest, scope: '', ...ofOthers[header ?? ''] },
            decisions: found,
          });
    },
    texts: {
      work: (work, input, { signal }) =>
        threadsAreTaken
          ? new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(SkeinError.of(signal.reason)));
            })
          : Promise.resolve(work.here(input)),
    },
    queries,
    view,
    events,
    kept,
    history: {
      list: (_caller, request) => {
        historyRequests.push(request);
        return Promise.resolve([historyEntry]);
      },
      summary: (_caller, _asked, { by }) => {
        const numbers = { count: 1, durationMs: 2, rowsProduced: 3, bytesScanned: 4, cuConsumed: 0.5 };
        return Promise.resolve({ lines: [{ bucket: T0, value: by, ...numbers }], isCut: false });
      },
      find: (_caller, id) => Promise.resolve(id === historyEntry.queryId ? historyEntry : undefined),
      profile: (_caller, id) =>
        Promise.resolve(
          id === historyEntry.queryId
            ? JSON.stringify({ queryId: id, status: 'completed', queuedAt: T0, startedAt: null, endedAt: T0 })
            : undefined,
        ),
    },
    tables: {
      list: async function* () {
        yield [{ catalog: 'lake', schema: 'a.b', name: 't' }];
        await moreTables;
        yield [];
        yield [{ catalog: 'lake', schema: 'a.b', name: 'u' }];
      },
      describe: (caller, path) => describeTable(caller, path),
    },
    stages: noStages(),
    metrics,
    trustedProxies: [],
    addresses: { query: '', catalog: 'https://catalog.example.com' },
    metricsToken: '',
    notReady: () => notReady,
    log: silentLogger,
  };
}

beforeAll(async () => {
  const started = await startHttp(options());
  url = started.url;
  close = () => started.close();
  document = new ApiDocument(await (await fetch(`${url}/openapi.json`)).json());
});
afterAll(async () => {
  events[Symbol.dispose]();
  kept[Symbol.dispose]();
  await close();
});
beforeEach(() => {
  requests.length = 0;
  run = async ({ sink }) => {
    startRows(sink, SHAPE);
    await sink.batch(jsonBatch(Buffer.from(',[1],[2]')));
    await sink.batch(jsonBatch(Buffer.from(',[3]')));
    sink.finish({ rowCount: 3, elapsedMs: 1.6 });
  };
  describeTable = (_caller, { catalog, namespace, table }) =>
    Promise.reject(new SkeinError('TABLE_NOT_FOUND', [catalog, namespace, table].join('|')));
  notReady = undefined;
  threadsAreTaken = false;
});

const startRows = (sink: DoorSink, shape: ResultShape): void => (sink.planned(shape), sink.start());
const COLUMN = { name: 'a', typeName: 'BIGINT', type: { kind: 'scalar', name: 'BIGINT' } } as const;
const SHAPE = { kind: 'rows', tag: 'SELECT', columns: [COLUMN], timeZone: 'UTC' } as const;
const jsonBatch = (body: Buffer): ResultBatch => ({ rows: 1, header: null, body });

const headers = { authorization: 'Bearer good', 'content-type': 'application/json' };
type Answer = { readonly status: number; readonly headers: Headers; readonly text: string; json(): unknown };

/** Sends a request and checks the whole answer against the document. */
async function send(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${url}${path}`, { method, headers, ...init });
  const answer = { status: response.status, headers: response.headers, text: await response.text() };
  document.check({ method, path, ...answer });
  return { ...answer, json: () => JSON.parse(answer.text) as unknown };
}

const post = (body: unknown, more: Record<string, string> = {}): Promise<Answer> =>
  send('POST', '/api/query', {
    headers: { ...headers, ...more },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const BODY = JSON.stringify({ sql: 'select 1' });

/** Sends the head of a request with a body of this length, and not the body. */
async function begin(token: string, length: number | 'chunked'): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  const framing = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  const head = `POST /api/query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
  socket.write(`${head}${framing}\r\n\r\n`);
  // The server has seen it.
  await sleep(50);
  return socket;
}

/** The first bytes with which a connection is answered. */
const answerOf = (socket: Socket): Promise<string> =>
  new Promise((resolve, reject) => {
    socket.once('data', (data: Buffer) => resolve(data.toString('latin1')));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed without an answer')));
  });

const statusOf = async (socket: Socket): Promise<string> =>
  (await answerOf(socket)).slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length);

/** The status of a request whose body is as long as it may be. */
async function whole(token: string): Promise<string> {
  const socket = await begin(token, BODY_BYTES_MAX);
  const status = statusOf(socket);
  socket.write(BODY.padEnd(BODY_BYTES_MAX, ' '));
  try {
    return await status;
  } finally {
    socket.destroy();
  }
}

test('the body has exactly the five members, in order, and the answer names its query', async () => {
  const answer = await post({ sql: 'select 1', timeout_ms: 500 });
  expect(answer.text).toBe('{"columns":["a"],"types":["BIGINT"],"rows":[[1],[2],[3]],"row_count":3,"elapsed_ms":2}');
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

describe('the time of a request', () => {
  test('counts from the arrival of its head', async () => {
    const started = performance.now();
    const socket = await begin('good', BODY.length);
    await sleep(300);
    socket.write(BODY);
    expect(await statusOf(socket)).toBe('200');
    expect(requests[0]?.arrivedMs).toBeLessThan(started + 250);
  });

  test.each([
    ['the body names it last', { sql: 'x', timeout_ms: 200 }],
    ['the body names it first', { timeout_ms: 200, sql: 'x' }],
    ['a part of the statement looks like it', { timeout_ms: 200, sql: '"timeout_ms": 900' }],
  ])('ends while its body waits for a thread, where %s', async (_where, body) => {
    threadsAreTaken = true;
    const started = performance.now();
    const answer = await post(body);
    expect([answer.status, answer.json()]).toEqual([408, expect.objectContaining({ error: 'QUERY_TIMEOUT' })]);
    expect(answer.text).toContain('200 ms');
    expect(performance.now() - started).toBeLessThan(900 * machineSlowness());
  });

  test('is that of its session when the body names none', async () => {
    threadsAreTaken = true;
    expect((await post({ sql: 'x' })).text).toContain('1000 ms');
  });
});

test('a list of tables is sent part by part', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  moreTables = promise;
  const response = await fetch(`${url}/api/tables`, { headers });
  const parts = must(response.body, 'a body').pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  const first = (await parts.next()).value ?? '';
  expect(first).toContain('"name":"t"');
  resolve();
  let text = first;
  for (let part = await parts.next(); part.done !== true; part = await parts.next()) text += part.value;
  expect(JSON.parse(text)).toEqual({
    tables: [
      { catalog: 'lake', schema: 'a.b', name: 't' },
      { catalog: 'lake', schema: 'a.b', name: 'u' },
    ],
  });
});

describe('bodies on their way', () => {
  test('one tenant has room for two of the longest at once, another for its own meanwhile', async () => {
    const slow = await Promise.all([begin('good', BODY_BYTES_MAX), begin('good', BODY_BYTES_MAX)]);
    const third = await begin('good', BODY_BYTES_MAX);
    expect(await statusOf(third)).toBe('429');
    const other = await begin('other', BODY_BYTES_MAX);
    other.write(BODY.padEnd(BODY_BYTES_MAX, ' '));
    expect(await statusOf(other)).toBe('200');
    // A small body is not counted.
    expect((await post({ sql: 'x' })).status).toBe(200);
    for (const socket of [...slow, third, other]) socket.destroy();
    await expect.poll(() => whole('good')).toBe('200');
  });

  test('a body of unknown length takes what it has, once it is there', async () => {
    let finish: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (finish = resolve));
    const answer = run;
    run = (request) => held.then(() => answer(request));
    const chunked = await Promise.all(
      ['good', 'good'].map(async (token) => {
        const socket = await begin(token, 'chunked');
        socket.write(`${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`);
        return socket;
      }),
    );
    await expect.poll(() => requests.length).toBe(2);
    const third = whole('good');
    await expect.poll(() => requests.length).toBe(3);
    finish();
    expect(await third).toBe('200');
    expect(await Promise.all(chunked.map(statusOf))).toEqual(['200', '200']);
  });

  test('a client that sends its body slowly is cut off', async () => {
    const socket = await begin('good', 1_000);
    const drip = setInterval(() => socket.write(' '), 100);
    expect(await answerOf(socket)).toMatch(/^HTTP\/1.1 400 .*the request did not come in time/s);
    clearInterval(drip);
  });
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
  ['a long body', { sql: 'x'.repeat(BODY_BYTES_MAX) }, {}, 'PAYLOAD_TOO_LARGE'],
  ['no token', { sql: 'x' }, { authorization: '' }, 'UNAUTHENTICATED'],
])('%s is refused', async (_name, body, more, code) => {
  const answer = await post(body, more);
  expect(answer.status).toBe(ERRORS[code].http);
  expect(answer.json()).toMatchObject({
    error: code,
    sql_state: ERRORS[code].sqlState,
    message: expect.any(String),
  });
  expect(answer.headers.get('x-skein-query-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(requests).toEqual([]);
});

test.each<[unknown, Record<string, string>, string]>([
  [{}, {}, 'sql must be a string that is not empty'],
  [{ sql: ' \n' }, {}, 'sql must be a string that is not empty'],
  [{ sql: null }, {}, 'sql must be a string that is not empty'],
  [{ sql: 'x', timeout_ms: '1' }, {}, 'timeout_ms must be an integer from 1 to 1000'],
  [{ sql: 'x', timeout_ms: 1e300 }, {}, 'timeout_ms must be an integer from 1 to 1000'],
  [{ sql: 'x', ["y'".repeat(90)]: 1 }, {}, `unknown member "${"y'".repeat(50)}" in the body`],
  [{ sql: 'x' }, { 'x-skein-query-id': `urn:uuid:${randomUUID()}` }, 'X-Skein-Query-Id must be a UUID'],
  [{ sql: 'x' }, { 'x-skein-session': '' }, 'X-Skein-Session must be a UUID'],
  [{ sql: 'x' }, { 'x-skein-source': 'x'.repeat(257) }, 'X-Skein-Source must be at most 256 characters'],
])('the schemas of a query say what is wrong with %j', async (body, more, message) => {
  expect((await post(body, more)).json()).toMatchObject({ error: 'INVALID_REQUEST', message });
  expect(requests).toEqual([]);
});

test('the schemas let pass what they should', async () => {
  run = () => Promise.reject(new SkeinError('QUERY_CANCELLED', 'it came through'));
  const ids = { 'x-skein-query-id': randomUUID().toUpperCase(), 'x-skein-session': randomUUID() };
  for (const body of [{ sql: ' x' }, { sql: 'x', timeout_ms: null }, { sql: 'x', timeout_ms: 1_000 }]) {
    expect((await post(body, { ...ids, 'x-skein-source': 'é'.repeat(256) })).status).toBe(499);
  }
});

test('an error within the head keeps its status; a later one breaks the connection', async () => {
  const failing =
    (bytes: number) =>
    async ({ sink }: StatementRequest) => {
      startRows(sink, { ...SHAPE, columns: [] });
      for (let i = 0; i < bytes / 100; i += 1) await sink.batch(jsonBatch(Buffer.from(`,["${'x'.repeat(95)}"]`)));
      throw new SkeinError('DIVISION_BY_ZERO', 'division by zero');
    };
  run = failing(900);
  const early = await post({ sql: 'x' });
  expect([early.status, early.json()]).toEqual([
    400,
    { error: 'DIVISION_BY_ZERO', message: 'division by zero', sql_state: '22012' },
  ]);
  run = failing(2_000);
  await expect(post({ sql: 'x' })).rejects.toMatchObject({ cause: { code: 'UND_ERR_SOCKET' } });
});

test('a result over its limit is refused', async () => {
  run = async ({ sink }) => {
    startRows(sink, { ...SHAPE, columns: [] });
    await sink.batch(jsonBatch(Buffer.alloc(RESULT_BYTES_MAX, 'x')));
  };
  expect((await post({ sql: 'x' })).json()).toMatchObject({ error: 'RESULT_TOO_LARGE' });
});

test('a client that reads slowly holds the rows back; one that leaves ends the statement', async () => {
  const pieces = 1_000;
  let written = 0;
  let reason: unknown;
  run = async ({ sink, clientGone }) => {
    clientGone.addEventListener('abort', () => void (reason = clientGone.reason));
    startRows(sink, { ...SHAPE, columns: [] });
    for (let i = 0; i < pieces; i += 1) {
      await sink.batch(jsonBatch(Buffer.alloc(60_000, 'x')));
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
  for (let before = 0; before < written;) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(written).toBeLessThan(pieces);
  expect(reason).toBeUndefined();
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
  await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
  await vi.waitFor(() => expect(reason).toMatchObject({ code: 'QUERY_CANCELLED' }));
});

test('DELETE answers 204 or 404', async () => {
  const remove = (id: string, authorization = 'Bearer good'): Promise<Answer> =>
    send('DELETE', `/api/query/${id}`, { headers: { ...headers, authorization } });
  expect((await remove('00000000-0000-0000-0000-000000000001')).status).toBe(204);
  expect(cancelled).toEqual(['p/00000000-0000-0000-0000-000000000001']);
  for (const id of [randomUUID(), 'x', '..%2F']) {
    const answer = await remove(id);
    expect([answer.status, answer.json()]).toEqual([404, expect.objectContaining({ error: 'QUERY_NOT_FOUND' })]);
  }
  expect((await remove(randomUUID(), '')).status).toBe(401);
});

test('metadata paths answer 404 for what is missing, 403 without the scope, and take namespaces of several levels', async () => {
  const missing = await send('GET', '/api/catalogs/lake/namespaces/a%1Fb/tables/t%20x');
  expect([missing.status, missing.json()]).toEqual([
    404,
    { error: 'TABLE_NOT_FOUND', message: 'lake|a\x1Fb|t x', sql_state: '42P01' },
  ]);
  for (const path of ['/api/tables', '/api/catalogs/lake/namespaces/a/tables/t']) {
    const forbidden = await send('GET', path, { headers: { authorization: 'Bearer poor' } });
    expect([forbidden.status, forbidden.json()]).toEqual([403, expect.objectContaining({ sql_state: '42501' })]);
  }
});

test.each([
  ['GET', '/nothing', 404, 'NOT_FOUND'],
  ['PUT', '/api/query', 404, 'NOT_FOUND'],
  ['PUT', '/api/query', 404, 'NOT_FOUND'],
  ['POST', '/%ZZ', 400, 'INVALID_REQUEST'],
])('%s %s is no operation: %i %s, in the shape of every error', async (method, path, status, code) => {
  const answer = await send(method, path);
  expect([answer.status, answer.json()]).toEqual([status, expect.objectContaining({ error: code })]);
  expect(Object.keys(answer.json() as object)).toEqual(['error', 'message', 'sql_state']);
});

test('metrics need a token when a proxy of this machine passes the request on', async () => {
  const metrics = (more: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`${url}/metrics`, { headers: more });
  for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']) {
    const refused = await metrics({ [name]: '192.0.2.1' });
    expect([refused.status, await refused.json()], name).toEqual([
      401,
      expect.objectContaining({ error: 'UNAUTHENTICATED' }),
    ]);
    expect((await metrics({ [name]: '192.0.2.1', authorization: 'Bearer good' })).status, name).toBe(200);
  }
});

test('health, readiness and metrics are open', async () => {
  const open = (path: string): Promise<Answer> => send('GET', path, { headers: {} });
  expect((await open('/health')).json()).toEqual({ status: 'ok' });
  notReady = 'no worker';
  const not = await open('/health/ready');
  expect([not.status, not.json()]).toEqual([503, { status: 'not ready', reason: 'no worker' }]);
  notReady = undefined;
  const ready = await open('/health/ready');
  expect([ready.status, ready.json()]).toEqual([200, { status: 'ready' }]);
  expect((await open('/metrics')).text).toContain('skein_queries_running 0');
});

test('every operation of the OpenAPI document answers as it says, when it succeeds and when it fails', async () => {
  const table = '/api/catalogs/lake/namespaces/a/tables/t';
  const requests: readonly (readonly [string, string, (RequestInit | undefined)?])[] = [
    ['POST', '/api/query', { body: '{"sql":"x"}' }],
    ['POST', '/api/query', { body: '{}' }],
    ['POST', '/api/query', { headers: {} }],
    ['GET', '/api/query?state=running&limit=500'],
    ['GET', '/api/query?state=gone'],
    ['GET', '/api/query', { headers: {} }],
    ['GET', '/api/query/00000000-0000-0000-0000-000000000001'],
    ['GET', `/api/query/${randomUUID()}`],
    ['GET', `/api/query/${randomUUID()}`, { headers: {} }],
    ['DELETE', '/api/query/00000000-0000-0000-0000-000000000001?user_id=p'],
    ['DELETE', `/api/query/${randomUUID()}`],
    ['DELETE', `/api/query/${randomUUID()}`, { headers: {} }],
    ['DELETE', '/api/session', { headers: { ...headers, 'x-skein-session': QUARANTINED } }],
    ['DELETE', '/api/session'],
    ['DELETE', '/api/session', { headers: {} }],
    ['GET', '/api/query-history?limit=500&status=failed&query_type=ctas&from=2026-01-01T00:00:00Z'],
    ['GET', '/api/query-history?limit=501'],
    ['GET', '/api/query-history', { headers: {} }],
    ['GET', `/api/query-history/${historyEntry.queryId}`],
    ['GET', `/api/query-history/${randomUUID()}`],
    ['GET', '/api/query-history/x'],
    ['GET', `/api/query-history/${historyEntry.queryId}/profile`],
    ['GET', `/api/query-history/${randomUUID()}/profile`],
    ['GET', '/api/resource-groups?limit=1&offset=0'],
    ['GET', '/api/resource-groups?limit=501'],
    ['GET', '/api/resource-groups', { headers: {} }],
    ['GET', '/api/qos/stats'],
    ['GET', '/api/qos/stats', { headers: {} }],
    ['GET', '/api/resource-groups/root'],
    ['GET', '/api/resource-groups/root.other'],
    ['GET', '/api/resource-groups/root', { headers: {} }],
    ['GET', '/api/events?topics=queries,queries,tasks,groups,cluster'],
    ['GET', '/api/events', { headers: {} }],
    ['GET', '/api/cluster'],
    ['GET', '/api/cluster/series?after=1'],
    ['GET', '/api/cluster/series?after=x'],
    ['GET', '/api/cluster?offset=-1'],
    ['GET', '/api/cluster', { headers: {} }],
    ['GET', '/api/cluster/series', { headers: {} }],
    ['GET', '/api/objects?limit=1'],
    ['GET', '/api/objects?limit=0'],
    ['GET', '/api/objects', { headers: {} }],
    ['POST', '/api/complete', { body: '{"sql":"SELECT ","position":7}' }],
    ['POST', '/api/complete', { body: '{"sql":"SELECT ","position":8}' }],
    ['POST', '/api/complete', { headers: {} }],
    ['GET', `/api/query/${KEPT}/result`],
    ['GET', `/api/query/${randomUUID()}/result`],
    ['GET', `/api/query/${KEPT}/result`, { headers: {} }],
    ['DELETE', `/api/query/${KEPT}/result`, { headers: {} }],
    ['DELETE', `/api/query/${KEPT}/result`, { headers: { authorization: 'Bearer good' } }],
    ['DELETE', `/api/query/${KEPT}/result`, { headers: { authorization: 'Bearer good' } }],
    ['POST', '/api/describe', { body: '{"sql":"SELECT ?","types":["BIGINT"]}' }],
    ['POST', '/api/describe', { body: '{"sql":"bad"}' }],
    ['POST', '/api/describe', { body: '{"sql":"x","keep":true}' }],
    ['POST', '/api/describe', { headers: {} }],
    ['GET', '/api/session'],
    ['GET', '/api/session', { headers: { ...headers, 'x-skein-session': 'x' } }],
    ['GET', '/api/session', { headers: {} }],
    ['GET', '/api/query-history/summary?by=source&bucket_s=60&status=failed'],
    ['GET', '/api/query-history/summary?by=sql'],
    ['GET', '/api/query-history/summary', { headers: {} }],
    ['GET', '/api/whoami'],
    ['GET', '/api/whoami', { headers: {} }],
    ['GET', '/api/tables'],
    ['GET', '/api/tables', { headers: { ...headers, 'x-skein-session': 'x' } }],
    ['GET', '/api/tables', { headers: { authorization: 'Bearer poor' } }],
    ['GET', '/api/tables', { headers: {} }],
    ['GET', table],
    ['GET', table, { headers: { authorization: 'Bearer poor' } }],
    ['GET', table, { headers: {} }],
    ['GET', '/api/quarantine', { headers: { authorization: 'Bearer operator' } }],
    ['GET', '/api/quarantine', { headers: { authorization: 'Bearer administrator' } }],
    ['GET', '/api/quarantine', { headers: {} }],
    ['DELETE', `/api/quarantine/${QUARANTINED}`, { headers: { authorization: 'Bearer operator' } }],
    ['DELETE', `/api/quarantine/${randomUUID()}`, { headers: { authorization: 'Bearer operator' } }],
    ['DELETE', `/api/quarantine/${QUARANTINED}`],
    ['DELETE', `/api/quarantine/${QUARANTINED}`, { headers: {} }],
    ['GET', '/health'],
    ['GET', '/health/ready'],
    ['GET', '/metrics'],
    ['GET', '/openapi.json'],
    ['GET', '/.well-known/oauth-protected-resource'],
  ];
  const keeper = { tenant: tenantId('t'), sub: principalId('p'), scope: '', sess_epoch: 0 };
  const result = kept.open(keeper, KEPT, { print: '', sql: 'x' });
  startRows(result, SHAPE);
  result.finish({ rowCount: 0, elapsedMs: 1 });
  const schema = { fields: [{ name: 'a', type: 'INT', nullable: false }] };
  const described = { name: 't', schema, partition_spec: ['month(ts)'], snapshot_count: 1, record_count: 2 };
  const seen: Record<string, number[]> = {};
  const note = (operation: string | undefined, status: number): void =>
    void (seen[operation ?? 'none'] ??= []).push(status);
  describeTable = () => Promise.resolve(described);
  for (const [method, path, init] of requests) {
    const answer = await send(method, path, init);
    note(document.check({ method, path, ...answer }), answer.status);
  }
  notReady = 'no worker';
  note('ready', (await send('GET', '/health/ready')).status);
  const stream = await fetch(`${url}/api/events`, { headers });
  events[Symbol.dispose]();
  const told = { status: stream.status, headers: stream.headers, text: await stream.text() };
  note(document.check({ method: 'GET', path: '/api/events', ...told }), told.status);
  note('metrics', await fromElsewhere('/metrics'));
  expect(seen).toEqual({
    runQuery: [200, 400, 401],
    getResult: [200, 404, 401],
    dropResult: [401, 204, 404],
    describe: [200, 400, 400, 401],
    getSession: [200, 400, 401],
    summarizeHistory: [200, 400, 401],
    whoami: [200, 401],
    listObjects: [200, 400, 401],
    complete: [200, 400, 401],
    listQueries: [200, 400, 401],
    getQuery: [200, 404, 401],
    cancelQuery: [204, 404, 401],
    endSession: [204, 400, 401],
    listHistory: [200, 400, 401],
    getRecord: [200, 404, 400],
    getProfile: [200, 404],
    listResourceGroups: [200, 400, 401],
    getQosStats: [200, 401],
    getResourceGroup: [200, 404, 401],
    getCluster: [200, 400, 401],
    getClusterSeries: [200, 400, 401],
    streamEvents: [400, 401, 200],
    listTables: [200, 400, 403, 401],
    describeTable: [200, 403, 401],
    listQuarantine: [200, 403, 401],
    liftQuarantine: [204, 404, 403, 401],
    health: [200],
    protectedResource: [200],
    ready: [200, 503],
    metrics: [200, 401],
    openapi: [200],
  });
  expect([...Object.keys(seen), ...STAGE_OPERATIONS, ...INSPECT_OPERATIONS, ...ADMINISTER_OPERATIONS].sort()).toEqual(
    document.operations.toSorted(),
  );
  expect(endedSessions).toEqual([QUARANTINED]);
});

/** The status that a client on another machine gets. */
async function fromElsewhere(path: string): Promise<number> {
  const app = httpApp(options());
  const answer = await app.inject({ method: 'GET', url: path, remoteAddress: '192.0.2.7' });
  await app.close();
  const given = new Headers(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
  document.check({ method: 'GET', path, status: answer.statusCode, headers: given, text: answer.payload });
  return answer.statusCode;
}

test('a query that waits tells where and why', async () => {
  const answer = await send('GET', '/api/query/00000000-0000-0000-0000-000000000001');
  const { progress, ...state } = answer.json() as { readonly progress: object };
  expect(state).toMatchObject({ state: 'queued', queue_position: 2, reason: 'root.etl runs 4 of 4', started_at: null });
  expect([Object.keys(state).length, Object.keys(progress).length]).toEqual([9, 6]);
});

describe('the query history', () => {
  test('has exactly the fields of the record, and a page of 50 from the newest', async () => {
    const answer = await send('GET', '/api/query-history');
    expect(answer.json()).toEqual([historyEntry]);
    expect(historyRequests.at(-1)).toMatchObject({ limit: 50, offset: 0, status: null, user: null, queryType: null });
  });

  test('takes every filter', async () => {
    const given =
      'limit=7&offset=3&sort=duration_ms&fields=all&status=failed&user_id=u&query_type=select&resource_group=/root&min_duration_ms=5&text=a%25b' +
      '&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00%2B02:00';
    await send('GET', `/api/query-history?${given}`);
    expect(historyRequests.at(-1)).toEqual({
      limit: 7,
      offset: 3,
      status: 'failed',
      user: 'u',
      queryType: 'select',
      resourceGroup: '/root',
      minDurationMs: 5,
      text: 'a%b',
      like: null,
      from: new Date('2026-01-01T00:00:00Z'),
      to: new Date('2026-01-01T22:00:00Z'),
      sort: 'duration_ms',
      allFields: true,
    });
  });

  test('a full page links to the next one, which leaves out what has come since', async () => {
    const first = await send('GET', '/api/query-history?limit=1&status=completed');
    const link = /^<(.*)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    expect(new URLSearchParams(link.split('?')[1]).get('to')).toBe(historyRequests.at(-1)?.to?.toISOString());
    await send('GET', link);
    expect(historyRequests.at(-1)).toEqual({ ...historyRequests.at(-2), offset: 1 });
  });

  test.each([
    'limit=0',
    'limit=501',
    'limit=1.5',
    'limit=-1',
    'limit=1&limit=2',
    'offset=-1',
    'offset=1000001',
    'status=done',
    'query_type=',
    'min_duration_ms=x',
    'from=yesterday',
    'to=2026-13-01T00:00:00Z',
    'to=2016-12-31T23:59:60Z',
    `text=${'x'.repeat(1_001)}`,
  ])('%s is refused', async (query) => {
    const answer = await send('GET', `/api/query-history?${query}`);
    expect([answer.status, answer.json()]).toEqual([400, expect.objectContaining({ error: 'INVALID_REQUEST' })]);
  });
});

test('live queries are listed under the names of the history, a page at a time', async () => {
  const answer = await send('GET', '/api/query?state=running&limit=7');
  expect(answer.json()).toEqual({
    queries: [
      {
        query_id: '00000000-0000-0000-0000-000000000001',
        state: 'running',
        sql: 'SELECT 1',
        user_id: 'p',
        username: 'u',
        query_type: 'select',
        source: null,
        resource_group: '/root',
        priority: 7,
        workload_class: null,
        queue_position: null,
        reason: null,
        queued_at: '1970-01-01T00:00:00.000Z',
        started_at: '1970-01-01T00:00:00.001Z',
        elapsed_ms: 3,
        rows_produced: 3,
        bytes_scanned: 7,
        tasks: 5,
        tasks_running: 1,
        tasks_done: 2,
        workers: ['worker-1'],
      },
    ],
    total: 1,
  });
  expect((await send('GET', '/api/query?user_id=q')).json()).toEqual({ queries: [], total: 1 });
  for (const bad of [
    'limit=0',
    'limit=501',
    'limit=x',
    'limit=-1',
    'limit=1e2',
    'state=',
    'state=running&state=queued',
  ]) {
    expect((await send('GET', `/api/query?${bad}`)).json(), bad).toMatchObject({ error: 'INVALID_REQUEST' });
  }
});

test('every error that the document has of a statement or a table is answered with its status', async () => {
  const codes = document.codes('runQuery') as readonly (keyof typeof ERRORS)[];
  expect(codes.length).toBeGreaterThan(30);
  for (const code of codes) {
    run = () => Promise.reject(new SkeinError(code, 'why'));
    expect((await post({ sql: 'x' })).json()).toMatchObject({ error: code, sql_state: ERRORS[code].sqlState });
  }
  for (const code of document.codes('describeTable') as readonly (keyof typeof ERRORS)[]) {
    describeTable = () => Promise.reject(new SkeinError(code, 'why'));
    expect((await send('GET', '/api/catalogs/a/namespaces/b/tables/c')).json()).toMatchObject({ error: code });
  }
});

test('an answer that the document does not have, and a route that it lacks, are told', async () => {
  const answer = { method: 'GET', path: '/api/tables', ...(await send('GET', '/api/tables')) };
  const error = (code: string): string => JSON.stringify({ error: code, message: 'why', sql_state: '42501' });
  const wrong: readonly (readonly [Partial<typeof answer>, string])[] = [
    [{ path: '/api/views' }, 'the document has no such operation'],
    [{ method: 'POST' }, 'the document has no such operation'],
    [{ status: 201 }, 'the document has no status 201'],
    [{ text: '{"tables":[],"next":1}' }, 'must NOT have additional properties'],
    [{ text: '{"tables":[{"catalog":"a","schema":"b"}]}' }, "must have required property 'name'"],
    [{ text: '{"tables":[{"catalog":"a","schema":"b","name":1}]}' }, '/tables/0/name: must be string'],
    [{ headers: new Headers({ 'content-type': 'text/plain' }) }, 'the document has no content type text/plain'],
    [{ headers: new Headers([...answer.headers, ['x-skein-new', '1']]) }, 'the document has no header x-skein-new'],
    [{ status: 403, text: error('QUERY_TIMEOUT') }, 'the document has no QUERY_TIMEOUT here'],
    [{ status: 401, text: error('UNAUTHENTICATED') }, 'header WWW-Authenticate: must be string'],
  ];
  for (const [change, message] of wrong) expect(() => document.check({ ...answer, ...change })).toThrow(message);
  const app = httpApp(options());
  expect(() => app.get('/api/views/:name', () => '')).toThrow('the OpenAPI document has no GET /api/views/{name}');
});

describe('a result that is kept', () => {
  const rowsOf = (rows: readonly number[]): typeof run => {
    const columns = numberColumns(['a']);
    return async ({ sink }) => {
      startRows(sink, { kind: 'rows', tag: 'SELECT', columns, timeZone: 'UTC' });
      await sink.batch(
        encodeMade(
          sink.encoding,
          columns,
          rows.map((value) => [value]),
        ),
      );
      sink.finish({ rowCount: rows.length, elapsedMs: 1 });
    };
  };
  const result = (id: string, token = 'good', more: Record<string, string> = {}): Promise<Answer> =>
    send('GET', `/api/query/${id}/result`, { headers: { authorization: `Bearer ${token}`, ...more } });

  test('can be read again, in both forms, by its owner alone; its statement runs once', async () => {
    const id = randomUUID();
    run = rowsOf([1, 2]);
    const text = '{"columns":["a"],"types":["BIGINT"],"rows":[[1],[2]],"row_count":2,"elapsed_ms":1}';
    for (const _again of [1, 2]) {
      expect((await post({ sql: 'x', keep: true }, { 'x-skein-query-id': id })).text).toBe(text);
      expect((await result(id.toUpperCase())).text).toBe(text);
    }
    expect(requests).toHaveLength(1);
    const arrow = await fetch(`${url}/api/query/${id}/result`, {
      headers: { ...headers, accept: 'application/vnd.apache.arrow.stream' },
    });
    expect(tableFromIPC(new Uint8Array(await arrow.arrayBuffer())).numRows).toBe(2);
    expect([(await result(id, 'other')).status, (await result(id, 'poor')).status]).toEqual([404, 403]);
    const changed = await post({ sql: 'y', keep: true }, { 'x-skein-query-id': id });
    expect([changed.status, changed.text]).toEqual([400, expect.stringContaining('another statement')]);
    const gone = await send('DELETE', `/api/query/${id}/result`, { headers: { authorization: 'Bearer good' } });
    expect([gone.status, (await result(id)).status]).toEqual([204, 404]);
    expect(
      (await send('DELETE', `/api/query/${id}/result`, { headers: { authorization: 'Bearer good' } })).status,
    ).toBe(404);
  });

  test('outlives its client, and is waited for while it runs', async () => {
    const id = randomUUID();
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const { promise: hasBegun, resolve: begins } = Promise.withResolvers<void>();
    const rows = rowsOf([7]);
    run = async (request) => {
      begins();
      await mayEnd;
      request.clientGone.throwIfAborted();
      await rows(request);
    };
    const page = new AbortController();
    const left = fetch(`${url}/api/query`, {
      method: 'POST',
      headers: { ...headers, 'x-skein-query-id': id },
      body: JSON.stringify({ sql: 'x', keep: true }),
      signal: page.signal,
    });
    await hasBegun;
    page.abort();
    await expect(left).rejects.toThrow('aborted');
    const waits = result(id);
    await sleep(50);
    end();
    expect((await waits).text).toContain('"rows":[[7]]');
  });

  test('is refused for an id under which a statement has run before', async () => {
    const ran = await post({ sql: 'x', keep: true }, { 'x-skein-query-id': historyEntry.queryId });
    expect([ran.status, ran.text]).toEqual([400, expect.stringContaining('was sent under the id')]);
    expect(requests).toEqual([]);
  });

  test('tells its error to everyone who asks, with its place', async () => {
    const id = randomUUID();
    run = () => Promise.reject(new SkeinError('SYNTAX_ERROR', 'no', { position: 2 }));
    for (const answer of [await post({ sql: '🦆x', keep: true }, { 'x-skein-query-id': id }), await result(id)]) {
      expect([answer.status, answer.headers.get('x-skein-position')]).toEqual([400, '2']);
    }
    expect(requests).toHaveLength(1);
  });

  test('is not made of rows that may hold secrets, and is cut where it has more bytes than are kept', async () => {
    const id = randomUUID();
    run = rowsOf([1]);
    const secret = 'CREATE PERSONAL ACCESS TOKEN t';
    expect((await post({ sql: secret, keep: true }, { 'x-skein-query-id': id })).status).toBe(200);
    expect((await result(id)).status).toBe(404);
    run = rowsOf(Array.from({ length: 500 }, (_, i) => i));
    expect(await (await post({ sql: 'x', keep: true })).json()).toMatchObject({ row_count: 0, cut: true });
  });
});

test('an answer with a limit and an order names both to the statement', async () => {
  run = async ({ sink }) => {
    startRows(sink, SHAPE);
    await sink.batch(jsonBatch(Buffer.from(',[1]')));
    sink.finish({ rowCount: 1, elapsedMs: 1, isCut: true });
  };
  const asked = { sql: 'x', row_limit: 1, order_by: [{ column: 'a', descending: true }, { column: 'b' }] };
  const answer = await post(asked);
  expect([answer.headers.get('x-skein-cut'), answer.text]).toEqual(['true', expect.stringContaining('"cut":true}')]);
  const orderBy = [
    { column: 'a', descending: true },
    { column: 'b', descending: false },
  ];
  expect(requests[0]).toMatchObject({ rowLimit: 1, orderBy });
  for (const wrong of [{ row_limit: 0 }, { order_by: [{ column: 1 }] }, { order_by: [{}] }, { keep: 1 }]) {
    const refused = await post({ sql: 'x', ...wrong });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(Object.keys(wrong)[0] ?? '')]);
  }
});
