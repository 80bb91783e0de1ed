import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { StartedCluster } from '#test/support/cluster.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** A group for each kind of statement, and limits of the classes that queries run into. */
const workloadOf = (name: string, classes: string): string => `
resource_groups:
  - name: root
    groups:
      - {name: defining}
      - {name: showing}
      - {name: setting}
      - {name: explaining}
      - {name: broken}
      - {name: nightly}
      - {name: ${name}}
      - {name: narrow, hard_concurrency_limit: 1, max_queued_queries: 0}
routing_rules:
  - {match_source: narrow, target_group: root.narrow}
  - {match_source: ${name}, target_group: root.${name}}
  - {match_resource_pool: nightly, target_group: root.nightly, priority: 0}
  - {match_query_type: ddl, target_group: root.defining, priority: 4}
  - {match_query_type: show, target_group: root.showing}
  - {match_query_type: set, target_group: root.setting}
  - {match_query_type: explain, target_group: root.explaining}
  - {match_query_type: unknown, target_group: root.broken}
${classes}`;

/** Memory of the classes, in MiB. */
const CLASS_MIB = [150, 200, 250];

const memoryOf = ([interactive, medium, batch]: readonly number[]): string =>
  `classes: {interactive: {memory: ${interactive}MB}, medium: {memory: ${medium}MB}, batch: {memory: ${batch}MB}}`;

let cluster: StartedCluster;
let folder: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-workload-'));
  file = join(folder, 'workload.yaml');
  await writeFile(file, workloadOf('roomless', memoryOf(CLASS_MIB)));
  cluster = await startOwnCluster({ workers: 1, env: { SKEIN_COORDINATOR_WORKLOAD_FILE: file } });
});

afterAll(async () => {
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

const groups = (): Promise<readonly (readonly unknown[])[]> => cluster.sql('SHOW RESOURCE GROUPS');

/** Puts other limits of the classes in force: the group `name`, which the file has beside them, tells when. */
async function inForce(name: string, classes: string): Promise<void> {
  await writeFile(file, workloadOf(name, classes));
  await vi.waitFor(
    async () => expect((await groups()).map(([path]) => path)).toContain(`root.${name}`),
    patience(5_000),
  );
}

/** The record of a statement that has ended. */
async function recordOf(queryId: string): Promise<Readonly<Record<string, unknown>>> {
  const headers = { authorization: `Bearer ${await cluster.token()}` };
  const url = `${cluster.queryUrl}/api/query-history/${queryId}`;
  const ended = async (): Promise<Readonly<Record<string, unknown>>> =>
    (await (await fetch(url, { headers })).json()) as Readonly<Record<string, unknown>>;
  await expect.poll(ended, { timeout: patience(5_000) }).toMatchObject({ endedAt: expect.any(String) });
  return ended();
}

describe('statements without a query', () => {
  test.each([
    ['CREATE SCHEMA lake.routed', 'ddl', '/root/defining', 4],
    ['CREATE TABLE lake.routed.t (a INT)', 'ddl', '/root/defining', 4],
    ['DROP TABLE lake.routed.t', 'ddl', '/root/defining', 4],
    ['SHOW TABLES FROM lake.routed', 'show', '/root/showing', 3],
    ['DESCRIBE lake.routed.absent', 'show', '/root/showing', 3],
    ["SET timezone = 'UTC'", 'set', '/root/setting', 3],
    ['EXPLAIN SELECT 1', 'explain', '/root/explaining', 3],
    ['EXPLAIN ANALYZE SELECT 1', 'explain', '/root/explaining', 3],
    ['SELEC 1', 'unknown', '/root/broken', 3],
    ['SELECT 1', 'select', '/root', 3],
    ['SELECT * FROM lake.routed.absent', 'select', '/root', 3],
  ])('%s is of the type %s and goes to %s with priority %i', async (sql, queryType, resourceGroup, priority) => {
    const { queryId } = await cluster.query(sql);
    expect(await recordOf(queryId)).toMatchObject({ queryType, resourceGroup, priority });
  });

  test('go by the session, and a prepared statement by what it is', async () => {
    const sessionId = randomUUID();
    await cluster.sql('PREPARE explained AS EXPLAIN SELECT $1::INT', { sessionId });
    const executed = await cluster.query('EXECUTE explained(1)', { sessionId });
    expect(await recordOf(executed.queryId)).toMatchObject({ queryType: 'explain', resourceGroup: '/root/explaining' });
    await cluster.sql("SET service.resource_pool = 'nightly'", { sessionId });
    const pooled = await cluster.query('SHOW TABLES FROM lake.routed', { sessionId });
    expect(await recordOf(pooled.queryId)).toMatchObject({ resourceGroup: '/root/nightly', priority: 0 });
  });

  test('take no place: while their group is full they are answered, and KILL QUERY makes room', async () => {
    const [queryId, source] = [randomUUID(), 'narrow'];
    const running = cluster.query('SELECT max(hash(n)) FROM range(1000000000000) AS r(n)', {
      queryId,
      source,
      timeoutMs: 60_000,
    });
    await expect.poll(async () => (await groups()).find(([path]) => path === 'root.narrow')?.[1]).toBe(1);
    const refused = await cluster.query('SELECT 1', { source });
    expect(refused.body.error).toBe('QUEUE_FULL');
    for (const sql of [
      'CREATE SCHEMA lake.beside',
      'SHOW SCHEMAS',
      "SET timezone = 'UTC'",
      'DROP SCHEMA lake.beside',
      `KILL QUERY '${queryId}'`,
    ]) {
      const answer = await cluster.query(sql, { source });
      expect(answer.status, sql).toBe(200);
      expect(await recordOf(answer.queryId), sql).toMatchObject({ resourceGroup: '/root/narrow' });
    }
    expect((await running).body.error).toBe('QUERY_CANCELLED');
    expect((await cluster.query('SELECT 1', { source })).status).toBe(200);
  });
});

/** One query of each class, by its plan, that gathers so many rows in a list, which cannot be spilled. */
const gathering = (rows: number): readonly (readonly [workClass: string, sql: string])[] => {
  const range = `SELECT len(list(a.n)) FROM range(${rows}) AS a(n)`;
  return [
    ['interactive', range],
    ['medium', `${range}, range(1) AS b`],
    ['batch', `${range}, range(1) AS b, range(1) AS c, range(1) AS d`],
  ];
};

describe('a query that needs more memory than its class has', () => {
  const limits = new Map<string, number>();

  test.each(gathering(40_000_000).map(([workClass, sql], i) => [workClass, CLASS_MIB[i] ?? 0, sql] as const))(
    '%s: it is cancelled at %i MiB at most',
    async (workClass, mib, sql) => {
      expect(JSON.stringify(await cluster.sql(`EXPLAIN ${sql}`))).toContain(`Workload class: ${workClass}`);
      const { status, body, queryId } = await cluster.query(sql);
      expect([status, body.error]).toEqual([507, 'OUT_OF_MEMORY']);
      expect(await recordOf(queryId)).toMatchObject({ status: 'cancelled', errorMessage: body.message });
      const [, limit] = /\/([\d.]+) MiB used\)$/.exec(body.message ?? '') ?? [];
      expect(Number(limit)).toBeLessThanOrEqual(mib);
      limits.set(workClass, Number(limit));
    },
  );

  test('a higher class gives more, and with enough the same query is answered', async () => {
    const [interactive = 0, medium = 0, batch = 0] = ['interactive', 'medium', 'batch'].map((one) => limits.get(one));
    expect(interactive).toBeGreaterThan(0);
    expect(medium).toBeGreaterThan(interactive);
    expect(batch).toBeGreaterThan(medium);
    await inForce('roomy', 'classes: {interactive: {memory: 2GB}}');
    const [[, sql] = ['', '']] = gathering(20_000_000);
    expect(await cluster.sql(sql)).toEqual([[20_000_000]]);
  });
});

describe('a query that runs longer than its class may', () => {
  const ranges = ['a', 'b', 'c', 'd'].map((name) => `range(1000000) AS ${name}`);
  const endless = (count: number): string => `SELECT max(hash(a.range)) FROM ${ranges.slice(0, count).join(', ')}`;

  beforeAll(() =>
    inForce('timed', 'classes: {interactive: {timeout: 700ms}, medium: {timeout: 800ms}, batch: {timeout: 900ms}}'),
  );

  test.each([
    ['interactive', 700, 'SELECT max(hash(n)) FROM range(1000000000000) AS r(n)'],
    ['medium', 800, endless(2)],
    ['batch', 900, endless(4)],
  ])('%s: it is cancelled after %i ms', async (workClass, timeoutMs, sql) => {
    const { status, body, queryId } = await cluster.query(sql);
    const message = `the query ran longer than the ${timeoutMs} ms of its class, ${workClass}`;
    expect([status, body.error, body.message]).toEqual([408, 'QUERY_TIMEOUT', message]);
    const record = await recordOf(queryId);
    expect(record).toMatchObject({ status: 'cancelled', errorMessage: message });
    expect(Number(record['durationMs'])).toBeGreaterThanOrEqual(timeoutMs);
  });

  test('a write has the limits of the class that its plan has', async () => {
    await cluster.sql('CREATE TABLE lake.default.never (n BIGINT)');
    const late = await cluster.query(
      'INSERT INTO lake.default.never SELECT max(n % 7) FROM range(1000000000000) AS r(n)',
    );
    expect(late.body.message).toBe('the query ran longer than the 700 ms of its class, interactive');
  });
});
