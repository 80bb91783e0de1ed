import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LoadHarness } from '#test/support/load-harness.ts';

let harness: LoadHarness;
beforeAll(async () => {
  harness = await LoadHarness.start();
  await harness.sql(
    `CREATE TABLE people AS SELECT i::BIGINT id, 'name' || i AS name, DATE '2024-01-15' + (i * 10)::INT AS born FROM range(1000) t(i)`,
  );
});
afterAll(() => harness[Symbol.asyncDispose]());

describe('what fails leaves nothing behind', () => {
  let good: string;
  beforeAll(async () => {
    good = await harness.parquet('good.parquet', 'FROM people');
    await harness.load(['parquet', good, '--table', 'lake.keep.people', '--create']);
  });

  async function expectFailure(args: readonly string[], code: string, message: RegExp): Promise<void> {
    const before = await harness.warehouse();
    const snapshot = (await harness.table('lake.keep.people')).currentSnapshotId;
    const result = await harness.load(args);
    expect(result).toMatchObject({
      code: 1,
      events: [{ event: 'failed', code, message: expect.stringMatching(message) }],
    });
    expect(result.events).toHaveLength(1);
    expect(await harness.warehouse()).toStrictEqual(before);
    expect((await harness.table('lake.keep.people')).currentSnapshotId).toBe(snapshot);
  }

  test('a table that exists', () =>
    expectFailure(['parquet', good, '--table', 'lake.keep.people', '--create'], 'TABLE_EXISTS', /lake\.keep\.people/));

  test('a table that does not exist', () =>
    expectFailure(['parquet', good, '--table', 'lake.keep.nobody'], 'TABLE_NOT_FOUND', /nobody/));

  test('a missing file', () =>
    expectFailure(
      ['parquet', good, '/nowhere/x.parquet', '--table', 'lake.new.t', '--create'],
      'INVALID_INPUT_FILE',
      /\/nowhere\/x\.parquet/,
    ));

  test('a glob that matches nothing', () =>
    expectFailure(
      ['parquet', '/nowhere/*.parquet', '--table', 'lake.keep.people'],
      'INVALID_INPUT_FILE',
      /\/nowhere\/\*\.parquet/,
    ));

  test('a file that is no Parquet', async () => {
    await writeFile(join(harness.folder, 'text.parquet'), 'not parquet at all');
    const args = ['parquet', good, join(harness.folder, 'text.parquet'), '--table', 'lake.keep.people'];
    await expectFailure(args, 'INVALID_INPUT_FILE', /text\.parquet/);
  });

  test('a file whose pages are corrupt', async () => {
    const path = await harness.parquet(
      'broken.parquet',
      "SELECT i::BIGINT id, md5(i::VARCHAR) AS name, DATE '2024-01-01' born FROM range(50000) t(i)",
    );
    const bytes = await readFile(path);
    bytes.fill(0xff, 5_000, Math.floor(bytes.length / 2));
    await writeFile(path, bytes);
    await expectFailure(
      ['parquet', good, path, '--table', 'lake.keep.people'],
      'INVALID_INPUT_FILE',
      /broken\.parquet/,
    );
    await expectFailure(
      ['parquet', good, path, '--table', 'lake.new.t', '--create'],
      'INVALID_INPUT_FILE',
      /broken\.parquet/,
    );
    expect(await harness.hasNamespace('new')).toBe(false);
  });

  test('a file of another schema', async () => {
    const other = await harness.parquet(
      'other.parquet',
      `SELECT i::VARCHAR id, name, born FROM people t(i, name, born)`,
    );
    await expectFailure(
      ['parquet', good, other, '--table', 'lake.keep.people'],
      'INVALID_INPUT_FILE',
      /other\.parquet.*id/,
    );
    await expectFailure(['parquet', other, '--table', 'lake.keep.people'], 'INVALID_INPUT_FILE', /other\.parquet.*id/);
    const more = await harness.parquet('more.parquet', 'SELECT *, 1 AS extra FROM people');
    await expectFailure(['parquet', more, '--table', 'lake.keep.people'], 'INVALID_INPUT_FILE', /more\.parquet.*extra/);
  });

  test('types that Iceberg lacks, by column', async () => {
    const path = await harness.parquet('interval.parquet', `SELECT 1 AS a, INTERVAL 1 DAY AS how_long`);
    await expectFailure(['parquet', path, '--table', 'lake.new.t', '--create'], 'NOT_SUPPORTED', /how_long/);
    const nanos = await harness.parquet('nanos.parquet', `SELECT '2024-01-01 00:00:00.000000001'::TIMESTAMP_NS AS at`);
    await expectFailure(
      ['parquet', nanos, '--table', 'lake.new.t', '--create'],
      'INVALID_INPUT_FILE',
      /at has timestamps/,
    );
  });

  test('a partition column that is not there', () =>
    expectFailure(
      ['parquet', good, '--table', 'lake.new.t', '--create', '--partition-by', 'month(ts)'],
      'COLUMN_NOT_FOUND',
      /ts/,
    ));

  test('a load that is cancelled', async () => {
    const path = await harness.parquet(
      'slow.parquet',
      'SELECT i, md5(i::VARCHAR) a, md5((i + 1)::VARCHAR) b FROM range(1500000) t(i)',
    );
    const before = await harness.warehouse();
    const abort = new AbortController();
    const loading = harness.load(['parquet', path, '--table', 'lake.new.slow', '--create'], { signal: abort.signal });
    const made = async (): Promise<readonly string[]> => (await harness.warehouse()).filter((f) => !before.includes(f));
    await expect.poll(made, { interval: 5, timeout: 30_000 }).toContainEqual(expect.stringMatching(/\.parquet$/));
    abort.abort();
    const result = await loading;
    expect(result).toMatchObject({ code: 1, events: [{ event: 'failed', code: 'QUERY_CANCELLED' }] });
    expect(await harness.warehouse()).toStrictEqual(before);
    expect(await harness.hasNamespace('new')).toBe(false);
  });

  test('temporary files', async () => {
    expect(await readdir(join(harness.folder, 'tmp'))).toStrictEqual([]);
  });
});

describe('a catalog that is hard to reach', () => {
  /** Passes requests on, but for commits: their answer is lost after, or before, the catalog saw them. */
  async function lossyProxy(forward: boolean): Promise<AsyncDisposable & { readonly url: string }> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        const isCommit = body.includes('"requirements"');
        if (isCommit && !forward) return void request.socket.destroy();
        const method = request.method ?? 'GET';
        const headers = { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' };
        void forwardTo(`${harness.catalog.url}${request.url}`, {
          method,
          headers,
          body: body.length === 0 ? null : body,
        }).then(({ status, text }) => {
          if (isCommit) return request.socket.destroy();
          return response.writeHead(status, { 'content-type': 'application/json' }).end(text);
        });
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
    return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
  }

  async function forwardTo(url: string, request: RequestInit): Promise<{ status: number; text: string }> {
    const answer = await fetch(url, request);
    return { status: answer.status, text: await answer.text() };
  }

  const args = async (name: string): Promise<readonly string[]> => [
    'parquet',
    await harness.parquet('lost.parquet', 'SELECT 1 AS i'),
    '--table',
    `lake.lost.${name}`,
    '--create',
  ];

  test('a commit whose answer was lost is found in the table', async () => {
    await using proxy = await lossyProxy(true);
    const result = await harness.load(await args('found'), {
      connect: async () => ({ catalogUrl: proxy.url, token: harness.token }),
    });
    expect(result).toMatchObject({ code: 0, events: [{ event: 'committed', rows: 1 }] });
    expect((await harness.plan('lake.lost.found')).report.rows).toBe(1);
  });

  test('one whose fate is unknown keeps its files', async () => {
    await using proxy = await lossyProxy(false);
    const before = await harness.warehouse();
    const result = await harness.load(await args('unknown'), {
      connect: async () => ({ catalogUrl: proxy.url, token: harness.token }),
    });
    expect(result).toMatchObject({ code: 1, events: [{ event: 'failed', code: 'CATALOG_UNAVAILABLE' }] });
    expect((await harness.warehouse()).length).toBe(before.length + 3);
  });

  test('a token that has run out is replaced; one that is never valid is exit code 3', async () => {
    let asked = 0;
    const connect = async () => ({ catalogUrl: harness.catalog.url, token: asked++ === 0 ? 'expired' : harness.token });
    expect(await harness.load(await args('renewed'), { connect })).toMatchObject({ code: 0 });
    const bad = await harness.load(await args('bad'), {
      connect: async () => ({ catalogUrl: harness.catalog.url, token: 'bad' }),
    });
    expect(bad).toMatchObject({ code: 3, events: [{ code: 'UNAUTHENTICATED' }] });
  });

  test('no catalog at all', async () => {
    const connect = async () => ({ catalogUrl: 'http://127.0.0.1:1', token: harness.token });
    expect(await harness.load(await args('none'), { connect })).toMatchObject({
      code: 1,
      events: [{ code: 'CATALOG_UNAVAILABLE' }],
    });
  });
});

test.each([
  [[]],
  [['orc', 'x']],
  [['parquet', '--table', 'lake.ns.t']],
  [['parquet', 'x']],
  [['parquet', 'x', '--table', 't']],
  [['parquet', 'x', '--table', 'lake.ns.t', '--create', '--replace']],
  [['parquet', 'x', '--table', 'lake.ns.t', '--partition-by', 'month(ts)']],
  [['parquet', 'x', '--table', 'lake.ns.t', '--create', '--partition-by', 'moonth(ts)']],
  [['tpch']],
  [['tpch', '--scale', '-1']],
  [['tpch', '--scale', '1', '--what']],
])('usage: %j', async (args) => {
  expect(await harness.load(args)).toStrictEqual({ code: 2, events: [] });
});
