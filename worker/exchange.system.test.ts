import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InputSource, InputSpec, TaskSpec } from '#shared/task/task.ts';
import { defaultConfig, type Config } from '#shared/config/config-schema.ts';
import { queryId, tenantId } from '#shared/id.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { must } from '#shared/must.ts';
import { startWorker, type RunningWorker } from './main.ts';
import { makeTask, TestCoordinator } from '#test/support/worker-client.ts';
import { patience } from '#test/support/run/slowness.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

const SECRET = 'exchange-test';

type Node = { readonly worker: RunningWorker; readonly at: TestCoordinator };

describe('workers that exchange partitions', () => {
  let dataDir: string;
  let nodes: readonly Node[];
  let a: TestCoordinator;
  let b: TestCoordinator;

  const start = async (name: string, overrides: Partial<Config> = {}): Promise<Node> => {
    const worker = await startWorker(
      defaultConfig({
        data_dir: dataDir,
        'cluster.secret': SECRET,
        'worker.name': name,
        'worker.port': 0,
        'worker.cores': 1,
        'worker.memory_limit': 2 ** 30,
        'worker.orphan_timeout': 600_000,
        ...overrides,
      }),
      silentLogger,
    );
    return { worker, at: new TestCoordinator(worker.url, SECRET) };
  };

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'skein-exchange-'));
    const first = await start('a');
    const second = await start('b');
    nodes = [first, second];
    a = first.at;
    b = second.at;
  });

  afterAll(async () => {
    for (const { at, worker } of nodes) {
      at.close();
      await worker.close();
    }
    await rm(dataDir, { recursive: true, force: true });
  });

  const metric = async (node: number, name: string): Promise<number> => {
    const text = await (await fetch(nodes[node]?.worker.metricsUrl ?? '')).text();
    return Number(new RegExp(`^skein_worker_${name}\\{.*\\} (.*)$`, 'm').exec(text)?.[1]);
  };
  const exchangeFiles = async (name: string): Promise<string[]> => {
    const entries = await readdir(join(dataDir, 'spill', name), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  };
  const query = (): Pick<TaskSpec, 'queryId'> => ({ queryId: queryId(randomUUID()) });
  const spooled = (partitions: number): TaskSpec['output'] => ({ kind: 'spool', partitions });
  const input = (columns: Record<string, string>, sources: readonly InputSource[], reads = 1): InputSpec => ({
    columns: Object.entries(columns).map(([name, type]) => ({ name, type })),
    sources,
    reads,
  });

  test('a hash exchange between two workers gives every row to one task', async () => {
    const own = query();
    const parts = [0, 1].map((half) =>
      makeTask(
        `SELECT i AS k, 'text of row ' || i AS s, CASE WHEN i % 3 > 0 THEN i END AS n, hash(i) % 3 AS p
         FROM range(${half * 150_000}, ${half * 150_000 + 150_000}) t(i)`,
        { ...own, output: spooled(3) },
      ),
    );
    const producer = (i: number): TestCoordinator => (i === 0 ? a : b);
    for (const report of await Promise.all(parts.map((spec, i) => producer(i).report(spec)))) {
      expect(report.rows).toBe(150_000);
      expect(report.partitions).toHaveLength(3);
      expect(report.partitions.reduce((sum, { rows }) => sum + rows, 0)).toBe(150_000);
    }
    const results = await Promise.all(
      [0, 1, 2].map((partition) => {
        const sources = parts.map((spec, i) => producer(i).source(spec, partition));
        const spec = makeTask(
          [
            'SELECT count(*) AS c, sum(k)::BIGINT AS k, sum(n)::BIGINT AS n, min(hash(k) % 3) AS lo, max(hash(k) % 3) AS hi, ' +
              "count(*) FILTER (s = 'text of row ' || k) AS same FROM ",
            { input: 0 },
            ' AS t',
          ],
          { ...own, inputs: [input({ k: 'BIGINT', s: 'VARCHAR', n: 'BIGINT' }, sources)] },
        );
        return (partition === 0 ? b : a).run(spec);
      }),
    );
    const rows = results.map(({ table }) => table.get(0)?.toJSON() as Record<string, bigint>);
    const total = (name: string): bigint => rows.reduce((sum, row) => sum + (row[name] ?? 0n), 0n);
    expect(total('c')).toBe(300_000n);
    expect(total('same')).toBe(300_000n);
    expect(total('k')).toBe(BigInt((300_000 * 299_999) / 2));
    rows.forEach((row, partition) => expect([row['lo'], row['hi']]).toEqual([BigInt(partition), BigInt(partition)]));
    for (const { report } of results) expect(report.receivedBytes).toBeGreaterThan(1e6);
    expect(await metric(0, 'spool_bytes')).toBeGreaterThan(5e6);
    await Promise.all([a, b].map((each) => each.endQuery(parts[0] as TaskSpec)));
    expect([await metric(0, 'spool_bytes'), await metric(1, 'spool_bytes')]).toEqual([0, 0]);
    expect([await metric(0, 'tasks'), await metric(1, 'tasks')]).toEqual([0, 0]);
    expect(await exchangeFiles('a')).toEqual([]);
  });

  /** Rows `i` below `rows` with a text, in partitions by `i % partitions`. */
  const numbers = (own: Pick<TaskSpec, 'queryId'>, rows: number, partitions: number): TaskSpec =>
    makeTask(
      `SELECT i, 'text of row number ' || i AS s ${partitions === 1 ? '' : `, (i % ${partitions})::UINTEGER AS p`}
       FROM range(${rows}) t(i)`,
      { ...own, output: spooled(partitions) },
    );
  const NUMBERS = { i: 'BIGINT', s: 'VARCHAR' };
  const CHECK: TaskSpec['sql'] = [
    "SELECT count(*) AS c, sum(i)::BIGINT AS t, count(*) FILTER (s = 'text of row number ' || i) AS same FROM ",
    { input: 0 },
    ' AS t',
  ];
  const check = async (
    at: TestCoordinator,
    own: Pick<TaskSpec, 'queryId'>,
    from: InputSpec,
    overrides: Partial<TaskSpec> = {},
  ): Promise<unknown> =>
    (await at.run(makeTask(CHECK, { ...own, inputs: [from], ...overrides }))).table.get(0)?.toJSON();
  const expected = (rows: number): object => ({
    c: BigInt(rows),
    t: BigInt((rows * (rows - 1)) / 2),
    same: BigInt(rows),
  });

  test('a partition has any number of readers, each from any batch on', async () => {
    const spec = numbers(query(), 500_000, 1);
    const report = await a.report(spec);
    const [partition] = report.partitions;
    expect(partition?.batches).toBe(report.batches);
    expect(report.batches).toBeGreaterThan(5);
    const ticket = a.ticket(spec);
    const [whole, again] = await Promise.all([a.partition(`${ticket}@0`), a.partition(`${ticket}@0`)]);
    expect([whole.table.numRows, again.table.numRows]).toEqual([500_000, 500_000]);
    const first = await a.partition(`${ticket}@0-2`);
    const rest = await a.partition(`${ticket}@2`);
    expect(first.table.numRows + rest.table.numRows).toBe(500_000);
    expect(rest.table.get(0)?.['i']).toBe(BigInt(first.table.numRows));
    expect((await a.partition(`${ticket}@${report.batches}`)).table.numRows).toBe(0);
    for (const bad of ['@', '@x', '@1-', '@-1', '@1-2-3']) {
      await expect(a.partition(`${ticket}${bad}`)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    }
    await a.endQuery(spec);
    await expect(a.partition(`${ticket}@0`)).rejects.toMatchObject({ code: 'WORKER_LOST' });
  });

  test('ranges of a partition are inputs of different tasks, here and elsewhere', async () => {
    const own = query();
    const spec = numbers(own, 400_000, 1);
    const { batches } = await a.report(spec);
    const middle = Math.floor(batches / 2);
    const parts = await Promise.all(
      [a, b].map((at, half) => {
        const range = half === 0 ? { start: 0, end: middle } : { start: middle, end: batches };
        const task = makeTask(CHECK, { ...own, inputs: [input(NUMBERS, [a.source(spec, 0, range)])] });
        return at.run(task).then(({ table }) => table.get(0)?.toJSON() as { c: bigint; t: bigint });
      }),
    );
    expect(parts.reduce((sum, { c }) => sum + c, 0n)).toBe(400_000n);
    expect(parts.reduce((sum, { t }) => sum + t, 0n)).toBe(BigInt((400_000 * 399_999) / 2));
    expect(parts.every(({ c }) => c > 0n)).toBe(true);
    await Promise.all([a, b].map((at) => at.endQuery(spec)));
  });

  test('an input is read twice, by a wide task, without rows, and without sources', async () => {
    const own = query();
    const spec = numbers(own, 200_000, 3);
    await a.report(spec);
    const all = [0, 1, 2].map((partition) => a.source(spec, partition));
    expect(await check(a, own, input(NUMBERS, all))).toEqual(expected(200_000));
    expect(await check(a, own, input(NUMBERS, all, 2))).toEqual(expected(200_000));
    expect(await check(b, own, input(NUMBERS, all), { threads: 2 })).toEqual(expected(200_000));
    const twice = makeTask(
      ['SELECT count(*) AS c FROM ', { input: 0 }, ' AS x JOIN ', { input: 0 }, ' AS y USING (i)'],
      { ...own, inputs: [input(NUMBERS, all, 2)] },
    );
    expect((await b.run(twice)).table.get(0)?.toJSON()).toEqual({ c: 200_000n });
    const none = makeTask("SELECT 1::BIGINT AS i, 'x' AS s, 0::UINTEGER AS p WHERE false", {
      ...own,
      output: spooled(2),
    });
    expect((await b.report(none)).partitions).toEqual([0, 1].map(() => ({ rows: 0, batches: 0, bytes: 0 })));
    const empty = { c: 0n, t: null, same: 0n };
    expect(await check(a, own, input(NUMBERS, [b.source(none, 0)]))).toEqual(empty);
    expect(await check(b, own, input(NUMBERS, [b.source(none, 1)]))).toEqual(empty);
    expect(await check(b, own, input(NUMBERS, []))).toEqual(empty);
    await Promise.all([a, b].map((at) => at.endQuery(spec)));
  });

  test('an ENUM keeps its order, also from another worker, and types are those that the text was written for', async () => {
    const own = query();
    const mood = "ENUM('sad', 'ok', 'happy')";
    const spec = makeTask(
      `SELECT ['happy', 'sad', 'ok'][1 + i % 3]::${mood} AS m, i::INTEGER AS n, (i % 2)::UINTEGER AS p FROM range(10) t(i)`,
      { ...own, output: spooled(2) },
    );
    await a.report(spec);
    const sources = [0, 1].map((partition) => a.source(spec, partition));
    for (const at of [a, b]) {
      const task = makeTask(
        [
          "SELECT string_agg(m || n, ' ' ORDER BY m, n) AS t, any_value(typeof(m)) AS m, any_value(typeof(n)) AS n FROM ",
          { input: 0 },
        ],
        { ...own, inputs: [input({ m: mood, n: 'HUGEINT' }, sources)] },
      );
      expect((await at.run(task)).table.get(0)?.toJSON()).toEqual({
        t: 'sad1 sad4 sad7 ok2 ok5 ok8 happy0 happy3 happy6 happy9',
        m: mood,
        n: 'HUGEINT',
      });
    }
    await Promise.all([a, b].map((at) => at.endQuery(spec)));
  });

  test('a task runs once however often it is asked for, and not after its query', async () => {
    const spec = numbers(query(), 100_000, 2);
    const [first, second] = await Promise.all([a.report(spec), a.report(spec)]);
    expect(second).toEqual(first);
    expect(await a.report(spec)).toEqual(first);
    await a.endQuery(spec);
    await a.endQuery(spec);
    await expect(a.runTask(spec)).rejects.toMatchObject({ code: 'QUERY_CANCELLED' });
    await expect(a.runTask(makeTask('SELECT 1', { queryId: spec.queryId }))).rejects.toMatchObject({
      code: 'QUERY_CANCELLED',
    });
  });

  test('a failure, a cancelled call and a cancel leave nothing', async () => {
    const failing = makeTask("SELECT i, 'x'::INTEGER AS n, 0::UINTEGER AS p FROM range(9) t(i)", {
      output: spooled(2),
    });
    await expect(a.runTask(failing)).rejects.toMatchObject({ code: 'INVALID_CAST' });
    const endless = (): TaskSpec =>
      makeTask('SELECT a.i * b.i AS x, (b.i % 4)::UINTEGER AS p FROM range(100000) a(i), range(1000000) b(i)', {
        output: spooled(4),
      });
    const gone = new AbortController();
    const left = a.runTask(endless(), gone.signal).catch((error: unknown) => error);
    await expect.poll(() => metric(0, 'spool_bytes')).toBeGreaterThan(1e6);
    gone.abort();
    await left;
    await expect.poll(() => metric(0, 'tasks')).toBe(0);
    const spec = endless();
    const run = a.runTask(spec).catch((error: unknown) => error);
    await expect.poll(() => metric(0, 'spool_bytes')).toBeGreaterThan(1e6);
    await a.call('CancelTask', { task_id: spec.taskId, code: 'QUERY_TIMEOUT', reason: 'too slow' });
    expect(await run).toMatchObject({ code: 'QUERY_TIMEOUT' });
    expect([await metric(0, 'spool_bytes'), await metric(0, 'tasks')]).toEqual([0, 0]);
    expect([await metric(0, 'memory_granted_bytes'), await metric(0, 'spool_disk_bytes')]).toEqual([0, 0]);
  });

  test('an output that the ticket does not cover is not read', async () => {
    const own = query();
    const spec = numbers(own, 1_000, 2);
    await a.report(spec);
    const source = a.source(spec, 0);
    for (const at of [a, b]) {
      const other = { ...source, ticket: a.ticket(spec, { partition: 7 }) };
      await expect(check(at, own, input(NUMBERS, [{ ...other, partition: 7 }]))).rejects.toMatchObject({
        code: 'UNAUTHENTICATED',
      });
      const expired = { ...source, ticket: a.ticket(spec, { partition: 0, expiresAtMs: 1 }) };
      await expect(check(at, own, input(NUMBERS, [expired]))).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    }
    // Another query, and another tenant's query with this query's id, ask the worker that holds the output, and another worker.
    for (const at of [a, b]) {
      await expect(check(at, query(), input(NUMBERS, [source]))).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
      const foreign = makeTask(CHECK, { ...own, tenant: tenantId('rival'), inputs: [input(NUMBERS, [source])] });
      await expect(at.run(foreign)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    }
    await expect(a.runTask({ ...spec, tenant: tenantId('rival') })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await check(b, own, input(NUMBERS, [source, a.source(spec, 1)]))).toEqual(expected(1_000));
    await Promise.all([a, b].map((at) => at.endQuery(spec)));
  });

  test('a partition that is gone, and a worker that is gone, are lost inputs', async () => {
    const own = query();
    const absent = numbers(own, 10, 1);
    for (const at of [a, b]) {
      const spec = makeTask(CHECK, { ...own, output: spooled(1), inputs: [input(NUMBERS, [a.source(absent, 0)])] });
      expect(await at.runTask(spec)).toEqual({ kind: 'lost', address: a.url, taskId: absent.taskId });
      // The same task may be sent again, with other sources.
      expect(await at.runTask(spec)).toMatchObject({ kind: 'lost' });
    }
    const nobody = { ...a.source(absent, 0), address: '127.0.0.1:1' };
    const spec = makeTask(CHECK, { ...own, output: spooled(1), inputs: [input(NUMBERS, [nobody])] });
    expect(await a.runTask(spec)).toEqual({ kind: 'lost', address: '127.0.0.1:1', taskId: absent.taskId });
    await expect(check(a, own, input(NUMBERS, [nobody]))).rejects.toMatchObject({
      code: 'INPUT_LOST',
      lostTask: absent.taskId,
    });
    expect([await metric(0, 'tasks'), await metric(1, 'tasks')]).toEqual([0, 0]);
    await Promise.all([a, b].map((at) => at.endQuery(spec)));
  });

  /** Runs a test with a worker of its own. */
  const apart = async (name: string, overrides: Partial<Config>, use: (node: Node) => Promise<void>): Promise<void> => {
    const node = await start(name, overrides);
    try {
      await use(node);
    } finally {
      node.at.close();
      await node.worker.close();
    }
  };
  const metricOf = async ({ worker }: Node, name: string): Promise<number> => {
    const text = await (await fetch(worker.metricsUrl)).text();
    return Number(new RegExp(`^skein_worker_${name}\\{.*\\} (.*)$`, 'm').exec(text)?.[1]);
  };

  test('output beyond the memory of the spool goes to files, and is read from there', async () => {
    await apart('small', { 'worker.spool_memory_limit': 8 * 2 ** 20 }, async (node) => {
      const own = query();
      const spec = numbers(own, 1_000_000, 3);
      const report = await node.at.report(spec);
      const bytes = report.partitions.reduce((sum, one) => sum + one.bytes, 0);
      expect(bytes).toBeGreaterThan(30e6);
      expect(await metricOf(node, 'spool_bytes')).toBeLessThanOrEqual(6 * 2 ** 20);
      expect(await metricOf(node, 'spool_disk_bytes')).toBeGreaterThan(20e6);
      expect(await exchangeFiles('small')).toHaveLength(1);
      const sources = [0, 1, 2].map((partition) => node.at.source(spec, partition));
      expect(await check(node.at, own, input(NUMBERS, sources))).toEqual(expected(1_000_000));
      expect(await check(a, own, input(NUMBERS, sources))).toEqual(expected(1_000_000));
      const [first] = report.partitions;
      const part = await node.at.partition(`${node.at.ticket(spec)}@${(first?.batches ?? 0) - 1}`);
      expect(part.table.numRows).toBeGreaterThan(0);
      // Batches fetched from another worker spill to files as well.
      const big = numbers(own, 1_000_000, 1);
      await a.report(big);
      expect(await check(node.at, own, input(NUMBERS, [a.source(big, 0)]))).toEqual(expected(1_000_000));
      await Promise.all([a, node.at].map((at) => at.endQuery(spec)));
      expect([await metricOf(node, 'spool_bytes'), await metricOf(node, 'spool_disk_bytes')]).toEqual([0, 0]);
      expect(await exchangeFiles('small')).toEqual([]);
    });
  });

  test('over the limit of disk the query ends with the reason, and leaves nothing', async () => {
    const limits = { 'worker.spool_memory_limit': 2 ** 20, 'worker.spool_disk_limit': 10e6 };
    await apart('tiny', limits, async (node) => {
      const spec = numbers(query(), 1_000_000, 3);
      await expect(node.at.runTask(spec)).rejects.toMatchObject({ code: 'SPILL_LIMIT' });
      await expect.poll(() => metricOf(node, 'tasks')).toBe(0);
      expect([await metricOf(node, 'spool_bytes'), await metricOf(node, 'spool_disk_bytes')]).toEqual([0, 0]);
      expect(await exchangeFiles('tiny')).toEqual([]);
      expect((await node.at.report(numbers(query(), 100_000, 3))).rows).toBe(100_000);
    });
  });

  test('a connection that is cut goes on where it was cut', async () => {
    const own = query();
    const spec = numbers(own, 1_500_000, 1);
    const report = await a.report(spec);
    await using proxy = await cuttingProxy(a.url, { connections: 2, afterBytes: 20e6 });
    const source = { ...a.source(spec, 0), address: proxy.address };
    const task = makeTask(CHECK, { ...own, inputs: [input(NUMBERS, [source])] });
    const { table, report: reader } = await b.run(task);
    expect(table.get(0)?.toJSON()).toEqual(expected(1_500_000));
    expect(proxy.cuts).toBe(2);
    // Every batch was received once.
    expect(reader.receivedBytes).toBe(report.partitions[0]?.bytes);
    await Promise.all([a, b].map((at) => at.endQuery(spec)));
  });

  test('a worker that does not answer is a lost input after the timeout', async () => {
    await apart('patient', { 'worker.exchange_timeout': 300 }, async (node) => {
      const own = query();
      const spec = numbers(own, 1_000, 1);
      await using proxy = await cuttingProxy(a.url, { connections: 0, afterBytes: 0, silent: true });
      const source = { ...a.source(spec, 0), address: proxy.address };
      const reader = makeTask(CHECK, { ...own, output: spooled(1), inputs: [input(NUMBERS, [source])] });
      const startMs = performance.now();
      expect(await node.at.runTask(reader)).toMatchObject({ kind: 'lost', taskId: spec.taskId });
      expect(performance.now() - startMs).toBeLessThan(5_000 * machineSlowness());
    });
  });

  test('a worker that stops in the middle of a partition is a lost input after the timeout, and nothing of it stays', async () => {
    await apart('stalled', { 'worker.exchange_timeout': 300 }, async (node) => {
      const own = query();
      const spec = numbers(own, 1_000_000, 1);
      await a.report(spec);
      await using proxy = await cuttingProxy(a.url, { connections: 0, afterBytes: 0, stallAfterBytes: 6e6 });
      const source = { ...a.source(spec, 0), address: proxy.address };
      const reader = makeTask(CHECK, { ...own, output: spooled(1), inputs: [input(NUMBERS, [source])] });
      const startMs = performance.now();
      expect(await node.at.runTask(reader)).toMatchObject({ kind: 'lost', taskId: spec.taskId });
      expect(performance.now() - startMs).toBeLessThan(10_000 * machineSlowness());
      expect(proxy.bytes).toBeGreaterThan(5e6);
      expect([await metricOf(node, 'tasks'), await metricOf(node, 'spool_bytes')]).toEqual([0, 0]);
      await a.endQuery(spec);
    });
  });

  test.runIf(process.platform === 'linux')(
    'batches are compressed for another host, and not for this one',
    async () => {
      await apart('lz4', { 'worker.exchange_compression': 'lz4' }, async (node) => {
        const own = query();
        const spec = numbers(own, 300_000, 1);
        const report = await node.at.report(spec);
        const take = async (localAddress: string): Promise<number> => {
          await using proxy = await cuttingProxy(node.at.url, { connections: 0, afterBytes: 0, localAddress });
          const source = { ...node.at.source(spec, 0), address: proxy.address };
          expect(await check(b, own, input(NUMBERS, [source]))).toEqual(expected(300_000));
          return proxy.bytes;
        };
        // A loopback address that no interface has: the worker takes it for another host.
        expect(await take('127.0.0.2')).toBeLessThan(report.outputBytes * 0.7);
        expect(await take('127.0.0.1')).toBeGreaterThan(report.outputBytes);
        await Promise.all([b, node.at].map((at) => at.endQuery(spec)));
      });
    },
  );

  test('more tasks than the slots run by turns wait, and are not refused', async () => {
    await apart('busy', { 'worker.tasks_per_slot_max': 1 }, async (node) => {
      const own = query();
      const specs = Array.from({ length: 12 }, () => numbers(own, 50_000, 2));
      const reports = await Promise.all(specs.map((spec) => node.at.report(spec)));
      expect(reports.map(({ rows }) => rows)).toEqual(specs.map(() => 50_000));
      await node.at.endQuery(must(specs[0], 'a task'));
      expect([await metricOf(node, 'tasks'), await metricOf(node, 'memory_granted_bytes')]).toEqual([0, 0]);
    });
  });

  test('spools of a silent coordinator are freed', async () => {
    const silence = { 'worker.orphan_timeout': 500, 'cluster.heartbeat_interval': 100 };
    await apart('orphan', silence, async (node) => {
      const spec = numbers(query(), 100_000, 3);
      const attached = node.at.attach();
      const beating = setInterval(() => attached.beat(1), 50);
      await node.at.report(spec);
      expect(await metricOf(node, 'spool_bytes')).toBeGreaterThan(1e6);
      clearInterval(beating);
      await expect.poll(() => metricOf(node, 'tasks'), { timeout: patience(10_000) }).toBe(0);
      expect(await metricOf(node, 'spool_bytes')).toBe(0);
    });
  });

  test('a worker that drains takes no tasks, and is read until its queries have ended', async () => {
    await apart('drained', { 'cluster.heartbeat_interval': 600_000 }, async (node) => {
      const own = query();
      const spec = numbers(own, 100_000, 1);
      await node.at.report(spec);
      const { beats } = node.at.attach();
      expect(await beats.next()).toMatchObject({ value: { draining: false } });
      let isDrained = false;
      const drained = node.at.call('Drain', {}).then(() => (isDrained = true));
      await expect
        .poll(() => node.at.runTask(numbers(own, 10, 1)).catch((error: unknown) => error))
        .toMatchObject({
          code: 'WORKER_DRAINING',
        });
      // Reported at once, not with the next regular beat.
      expect(await beats.next()).toMatchObject({ value: { draining: true } });
      expect(await check(b, own, input(NUMBERS, [node.at.source(spec, 0)]))).toEqual(expected(100_000));
      expect(isDrained).toBe(false);
      await node.at.endQuery(spec);
      await drained;
      await node.worker.drained;
    });
  });

  test('hundreds of queries leave no memory behind', async () => {
    const rssMb = (): number => process.memoryUsage().rss / 1e6;
    const round = async (): Promise<void> => {
      const own = query();
      const spec = numbers(own, 20_000, 4);
      await a.report(spec);
      const sources = [0, 1, 2, 3].map((partition) => a.source(spec, partition));
      const reads = await Promise.all([a, b].map((at) => check(at, own, input(NUMBERS, sources))));
      expect(reads).toEqual([expected(20_000), expected(20_000)]);
      await Promise.all([a, b].map((at) => at.endQuery(spec)));
    };
    for (let i = 0; i < 50; i++) await round();
    const before = rssMb();
    // In each round a task spools two megabytes, and another worker copies them.
    for (let i = 0; i < 250; i++) await round();
    expect(rssMb() - before).toBeLessThan(150);
    for (const node of [0, 1]) {
      expect([await metric(node, 'spool_bytes'), await metric(node, 'tasks')]).toEqual([0, 0]);
    }
  }, 300_000);
});

type Proxy = AsyncDisposable & { readonly address: string; readonly cuts: number; readonly bytes: number };

/** A proxy before a worker. It cuts the first `connections` connections after a number of bytes; a silent one never answers. */
async function cuttingProxy(
  to: string,
  how: {
    readonly connections: number;
    readonly afterBytes: number;
    readonly silent?: boolean;
    /** After this many bytes in all, the proxy forwards nothing more and keeps its connections open. */
    readonly stallAfterBytes?: number;
    readonly localAddress?: string;
  },
): Promise<Proxy> {
  const [host, port] = to.split(':');
  let cuts = 0;
  let passed = 0;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    sockets.add(near);
    near.on('error', () => undefined);
    if (how.silent === true) return;
    const far = connect({ port: Number(port), host, localAddress: how.localAddress });
    sockets.add(far);
    far.on('error', () => undefined);
    near.pipe(far);
    let bytes = 0;
    far.on('data', (data: Buffer) => {
      near.write(data);
      passed += data.length;
      if (passed > (how.stallAfterBytes ?? Number.POSITIVE_INFINITY)) far.pause();
      bytes += data.length;
      if (cuts >= how.connections || bytes < how.afterBytes) return;
      cuts++;
      near.destroy();
      far.destroy();
    });
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts;
    },
    get bytes() {
      return passed;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
