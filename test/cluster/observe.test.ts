import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { SKEIN_RELEASE } from '#shared/release.ts';
import { ApiDocument } from '#test/support/api-document.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** What can be seen of a cluster while it works: resource groups and workers, over HTTP and SQL. */
const TENANT = 'observed';
const ADMIN = 'observed_admin';

let cluster: Cluster;
let document: ApiDocument;
/** Of the suite's own tenant, in which nobody else runs queries. */
let token: string;
const streams: AbortController[] = [];

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  document = new ApiDocument(await (await fetch(`${cluster.queryUrl}/openapi.json`)).json());
  await cluster.cliOk(['admin', 'tenant', 'create', TENANT, '--user', ADMIN]);
  token = await cluster.token({ tenant: TENANT, user: ADMIN });
}, 60_000);
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
      [`root.${TENANT}`, '1', '0', '87', '100', 'weighted'],
      [`root.${TENANT}.${ADMIN}`, '1', '0', '75', '100', 'fair'],
    ]);
    expect(rows[0]?.[0]).toBe('root');
    expect(Number(rows[0]?.[1])).toBeGreaterThanOrEqual(1);
    stream.abort();
    const left = (): Promise<unknown> => cluster.sql('SHOW RESOURCE GROUPS', { token });
    await vi.waitFor(async () => expect(await left()).toEqual([expect.arrayContaining(['root'])]), 10_000);
  });

  test('are a table in brackets', async () => {
    const sql = "SELECT scheduling_policy FROM (SHOW RESOURCE GROUPS) WHERE path = 'root' AND running::INTEGER >= 0";
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

test('the cluster shows its coordinator, and its workers with what they do', async () => {
  await holdQuery(randomUUID());
  type Shown = { readonly workers: readonly { readonly running_tasks: number; readonly threads: number }[] };
  const sum = ({ workers }: Shown, of: (one: Shown['workers'][number]) => number): number =>
    workers.reduce((all, one) => all + of(one), 0);
  await vi.waitFor(async () => {
    const shown = await get<Shown>('/api/cluster');
    expect(sum(shown, (one) => one.running_tasks)).toBeGreaterThanOrEqual(1);
    expect(sum(shown, (one) => one.threads)).toBeGreaterThanOrEqual(1);
  }, 10_000);
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
