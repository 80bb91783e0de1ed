import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { must } from '#shared/must.ts';
import { SKEIN_RELEASE } from '#shared/release.ts';
import { ApiDocument } from '#test/support/api-document.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** The view of a cluster while it works: resource groups and workers, over HTTP and SQL. */
const TENANT = 'observed';
const ADMIN = 'observed_admin';

let cluster: Cluster;
let document: ApiDocument;
/** A token of the suite's own tenant, in which nobody else runs queries. */
let token: string;
const streams: AbortController[] = [];

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  document = new ApiDocument(await (await fetch(`${cluster.queryUrl}/openapi.json`)).json());
  await cluster.cliOk(['admin', 'tenant', 'create', TENANT, '--user', ADMIN]);
  token = await cluster.token({ tenant: TENANT, user: ADMIN });
});
afterEach(() => {
  for (const stream of streams.splice(0)) stream.abort();
});

/** Starts a query that runs until it is aborted, because nobody reads its rows. */
async function holdQuery(queryId: string): Promise<AbortController> {
  const stream = new AbortController();
  streams.push(stream);
  const response = await fetch(`${cluster.queryUrl}/api/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-skein-query-id': queryId },
    body: JSON.stringify({ sql: 'SELECT range, range + 1 FROM range(500000000)' }),
    signal: stream.signal,
  });
  expect(response.status).toBe(200);
  return stream;
}

/** An answer, checked against the OpenAPI document. */
async function get<T>(path: string, by = token): Promise<T> {
  const response = await fetch(`${cluster.queryUrl}${path}`, { headers: { authorization: `Bearer ${by}` } });
  const { status, headers } = response;
  const text = await response.text();
  document.check({ method: 'GET', path, status, headers, text });
  return JSON.parse(text) as T;
}

describe('/api/qos/stats', () => {
  type Stats = {
    readonly resource_groups: readonly Readonly<Record<string, unknown>>[];
    readonly mlfq: Readonly<Record<string, number | readonly number[]>>;
  };
  const stats = (): Promise<Stats> => get<Stats>('/api/qos/stats');

  test('resource_groups: a group counts its subtree, by its path', async () => {
    const stream = await holdQuery(randomUUID());
    await expect
      .poll(async () => (await stats()).resource_groups.find(({ path }) => path === `root.${TENANT}`))
      .toMatchObject({ running: 1, queued: 0, scheduling_policy: 'weighted' });
    const { resource_groups: groups } = await stats();
    for (const group of groups) {
      expect(Object.keys(group)).toEqual(['path', 'running', 'queued', 'hard_concurrency_limit', 'scheduling_policy']);
    }
    expect(groups[0]).toMatchObject({ path: 'root' });
    stream.abort();
  });

  test('mlfq: what runs on the slots, by level', async () => {
    const before = (await stats()).mlfq;
    expect(Object.keys(before)).toEqual([
      'running',
      'max_concurrent',
      'tracked_queries',
      'level_queue_depths',
      'level_scheduled_ms',
    ]);
    expect(before['max_concurrent']).toBeGreaterThanOrEqual(2);
    const stream = await holdQuery(randomUUID());
    const sum = (all: Stats['mlfq'][string] | undefined): number =>
      (all as readonly number[]).reduce((a, b) => a + b, 0);
    await expect
      .poll(async () => (await stats()).mlfq['tracked_queries'], { timeout: patience(10_000) })
      .toBeGreaterThan(0);
    await expect
      .poll(async () => sum((await stats()).mlfq['level_scheduled_ms']), { timeout: patience(10_000) })
      .toBeGreaterThan(sum(before['level_scheduled_ms']));
    stream.abort();
  });
});

describe('resource groups', () => {
  test('SHOW RESOURCE GROUPS has the columns of the specification, and counts what runs', async () => {
    const stream = await holdQuery(randomUUID());
    const { body } = await cluster.query('SHOW RESOURCE GROUPS', { token });
    expect(body.columns).toEqual([
      'path',
      'running',
      'queued',
      'hard_concurrency_limit',
      'soft_concurrency_limit',
      'scheduling_policy',
      'cpu_time_ms',
    ]);
    const rows = body.rows ?? [];
    expect(rows.map((row) => row.slice(0, -1)).slice(1)).toEqual([
      [`root.${TENANT}`, 1, 0, 87, 100, 'weighted'],
      [`root.${TENANT}.${ADMIN}`, 1, 0, 75, 100, 'fair'],
    ]);
    expect(rows[0]?.[0]).toBe('root');
    expect(Number(rows[0]?.[1])).toBeGreaterThanOrEqual(1);
    stream.abort();
    const left = (): Promise<unknown> => cluster.sql('SHOW RESOURCE GROUPS', { token });
    await vi.waitFor(async () => expect(await left()).toEqual([expect.arrayContaining(['root'])]), patience(10_000));
  });

  test('the CPU time of a group grows while its query runs', async () => {
    const queryId = randomUUID();
    const sql = 'SELECT max(hash(a.i, b.i)) FROM range(1000000) a(i), range(1000000) b(i)';
    const running = cluster.query(sql, { token, queryId });
    const timeOf = async (): Promise<number> => {
      const rows = await cluster.sql('SHOW RESOURCE GROUPS', { token });
      return Number(rows.find(([path]) => path === `root.${TENANT}`)?.at(-1) ?? 0);
    };
    const before = await timeOf();
    await expect.poll(timeOf, { timeout: patience(20_000) }).toBeGreaterThan(before + 100);
    const first = await timeOf();
    await expect.poll(timeOf, { timeout: patience(20_000) }).toBeGreaterThan(first + 100);
    await cluster.sql(`KILL QUERY '${queryId}'`, { token });
    expect((await running).body.error).toBe('QUERY_CANCELLED');
  });

  test('are a table in brackets', async () => {
    const sql = "SELECT scheduling_policy FROM (SHOW RESOURCE GROUPS) WHERE path = 'root' AND running >= 0";
    expect(await cluster.sql(sql, { token })).toEqual([['weighted']]);
  });

  test.each([
    ['SHOW RESOURCE', 'NOT_SUPPORTED'],
    ['SHOW RESOURCE GROUPS root', 'SYNTAX_ERROR'],
    ['SHOW RESOURCE GROUPS; SELECT 1', 'SYNTAX_ERROR'],
  ])('%s is refused', async (statement, code) => {
    expect((await cluster.query(statement, { token })).body.error).toBe(code);
  });

  test('no other tenant sees them', async () => {
    await holdQuery(randomUUID());
    type Groups = { readonly resource_groups: readonly { readonly path: string }[] };
    const seen = async (by: string): Promise<readonly string[]> =>
      (await get<Groups>('/api/resource-groups', by)).resource_groups.map(({ path }) => path);
    expect(await seen(token)).toEqual(['root', `root.${TENANT}`, `root.${TENANT}.${ADMIN}`]);
    expect((await seen(await cluster.token())).join(' ')).not.toContain(TENANT);
    const path = `/api/resource-groups/root.${TENANT}`;
    expect(await get(path)).toMatchObject({ running: 1, effective_concurrency: 87 });
    expect(await get(path, await cluster.token())).toMatchObject({ error: 'NOT_FOUND' });
  });
});

type Event = { readonly id: string | null; readonly type: string; readonly data: Readonly<Record<string, unknown>> };

/** Reads a stream of events until one of them is what is waited for; answers all until then. */
async function readEvents(
  path: string,
  isLast: (event: Event) => boolean,
  { by = token, after }: { readonly by?: string; readonly after?: string } = {},
): Promise<readonly Event[]> {
  const stream = new AbortController();
  streams.push(stream);
  const headers = { authorization: `Bearer ${by}`, ...(after === undefined ? {} : { 'last-event-id': after }) };
  const response = await fetch(`${cluster.queryUrl}/api/events${path}`, { headers, signal: stream.signal });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const events: Event[] = [];
  let text = '';
  for await (const part of must(response.body, 'a body').pipeThrough(new TextDecoderStream())) {
    text += part;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/) as [string, string]));
      if (!fields.has('event')) continue;
      const data = JSON.parse(fields.get('data') ?? '') as Event['data'];
      events.push({ id: fields.get('id') ?? null, type: fields.get('event') ?? '', data });
      if (events.some(isLast)) {
        stream.abort();
        return events;
      }
    }
  }
  throw new Error(`the stream ended: ${JSON.stringify(events.at(-1))}`);
}

describe('events', () => {
  test('tell the life of a statement, its group and its tasks to its tenant, and nothing of it to another', async () => {
    const queryId = randomUUID();
    const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // It runs until it was seen to run, and to outgrow its class: it gives more rows than expected.
    const seen = { tasks: Promise.withResolvers<void>(), medium: Promise.withResolvers<void>() };
    const own = readEvents('', ({ type, data }) => {
      if (type === 'reset') begun[0]?.resolve();
      if (data['query_id'] !== queryId) return false;
      if (type === 'tasks' && data['tasks_running'] === 1) seen.tasks.resolve();
      if (data['workload_class'] === 'medium') seen.medium.resolve();
      return type === 'query' && data['ended_at'] !== null;
    });
    const last = randomUUID();
    const isLast = ({ type, data }: Event): boolean => {
      if (type === 'reset') begun[1]?.resolve();
      return data['query_id'] === last && data['status'] === 'completed';
    };
    const other = readEvents('', isLast, { by: await cluster.token() });
    await Promise.all(begun.map(({ promise }) => promise));
    const stream = await holdQuery(queryId);
    await Promise.all([seen.tasks.promise, seen.medium.promise]);
    stream.abort();
    const events = await own;
    const states = events.filter(({ data }) => data['query_id'] === queryId && 'status' in data);
    expect(states.map(({ data }) => [data['status'], data['workload_class']])).toEqual([
      ['queued', null],
      ['running', 'interactive'],
      ['running', 'medium'],
      ['cancelled', 'medium'],
    ]);
    expect(states.at(-1)?.data).toMatchObject({
      username: ADMIN,
      query_type: 'select',
      resource_group: `/root/${TENANT}/${ADMIN}`,
      error_code: 'QUERY_CANCELLED',
    });
    const paths = events.flatMap(({ type, data }) => (type === 'group' ? [data['path']] : []));
    expect(new Set(paths)).toEqual(new Set(['root', `root.${TENANT}`, `root.${TENANT}.${ADMIN}`]));
    const tasks = events.filter(({ type, data }) => type === 'tasks' && data['query_id'] === queryId);
    expect(tasks.map(({ data }) => data)).toContainEqual(
      expect.objectContaining({ tasks_running: 1, workers: [expect.stringMatching(/^worker-/)] }),
    );
    const workers = events.filter(({ type }) => type === 'worker');
    expect(workers.length).toBeGreaterThanOrEqual(2);
    await cluster.query('SELECT 1', { queryId: last });
    const told = JSON.stringify(await other);
    expect(told).not.toContain(queryId);
    expect(told).not.toContain(TENANT);
  });

  test('a client that comes back is told what it has missed', async () => {
    const [first] = await readEvents('?topics=queries', ({ type }) => type === 'reset');
    const ids = [randomUUID(), randomUUID()];
    for (const queryId of ids) await cluster.query('SELECT 1', { token, queryId });
    const isLast = ({ data }: Event): boolean => data['query_id'] === ids[1] && data['status'] === 'completed';
    const missed = await readEvents('?topics=queries', isLast, { after: must(first?.id, 'reset has an id') });
    expect(missed.flatMap(({ data }) => (data['status'] === 'completed' ? [data['query_id']] : []))).toEqual(ids);
    expect(missed.map(({ type }) => type)).not.toContain('reset');
  });

  test.each(['topics=', 'topics=all', 'topics=queries,', 'topics=queries,,tasks', 'topics=tasks&topics=queries'])(
    '%s is refused',
    async (query) => {
      expect(await get(`/api/events?${query}`)).toMatchObject({ error: 'INVALID_REQUEST' });
    },
  );
});

test('the cluster shows its coordinator, and its workers with what they do', async () => {
  await holdQuery(randomUUID());
  type Shown = { readonly workers: readonly { readonly running_tasks: number; readonly threads: number }[] };
  const sum = ({ workers }: Shown, of: (one: Shown['workers'][number]) => number): number =>
    workers.reduce((all, one) => all + of(one), 0);
  await vi.waitFor(async () => {
    const shown = await get<Shown>('/api/cluster');
    expect(sum(shown, (one) => one.running_tasks)).toBeGreaterThanOrEqual(1);
    expect(sum(shown, (one) => one.threads)).toBeGreaterThanOrEqual(1);
  });
  const live = { state: 'live', version: SKEIN_RELEASE, slots: expect.any(Number) as number };
  expect(await get('/api/cluster')).toMatchObject({
    coordinator: { version: SKEIN_RELEASE },
    workers: [
      { name: 'worker-1', ...live },
      { name: 'worker-2', ...live },
    ],
    total: 2,
  });
});
