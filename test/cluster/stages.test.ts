import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AdminClients } from '#test/support/admin-clients.ts';
import { STAGE_OPERATIONS } from '#test/support/no-stages.ts';
import { ApiDocument } from '#test/support/api-document.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Stages: made, filled by signed URLs, listed, emptied and dropped, over a cluster's own HTTP. */
const SCOPES = 'catalog:read namespace:read table:read table:write';
let cluster: StartedCluster;
let token: string;
let document: ApiDocument;
const operations = new Set<string>();

beforeAll(async () => {
  cluster = await startOwnCluster({ workers: 1, env: { SKEIN_CATALOG_BACKGROUND_INTERVAL: '200ms' } });
  token = await cluster.token();
  document = new ApiDocument(await (await fetch(`${cluster.queryUrl}/openapi.json`)).json());
  await cluster.sql('CREATE SCHEMA lake.files');
  await cluster.sql("CREATE STAGE lake.files.inbox COMMENT 'what comes in'");
});
afterAll(() => cluster?.stop());

/** A request whose answer must be one of the OpenAPI document. */
async function send(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, init);
  const { status, headers } = response;
  const text = await response.clone().text();
  const method = init.method ?? 'GET';
  operations.add(document.check({ method, path: new URL(url).pathname, status, headers, text }) ?? url);
  return response;
}

type Answer = { readonly status: number; readonly body: Record<string, never> & { readonly error?: string } };
type Url = {
  readonly path: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly 'expires-at-ms': number;
};

async function post(path: string, body: object, as = token): Promise<Answer & { readonly body: unknown }> {
  const answer = await send(`${cluster.queryUrl}/v1/stages/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Answer['body'] };
}

async function presign(path: string, more: object = {}): Promise<Url> {
  const { method, expires_in, ...file } = more as { readonly method?: string; readonly expires_in?: number };
  const asked = { stage: 'files.inbox', files: [{ path, ...file }], method, expires_in };
  const { status, body } = await post('presign', asked);
  expect([status, body]).toEqual([200, { urls: [expect.objectContaining({ path })] }]);
  return (body as unknown as { readonly urls: readonly [Url] }).urls[0];
}

const put = (url: string, body: Uint8Array | string, init: RequestInit = {}): Promise<Response> =>
  send(url, { method: 'PUT', body: typeof body === 'string' ? body : new Uint8Array(body), ...init });
const errorOf = async (answer: Response | Promise<Response>): Promise<readonly unknown[]> => {
  const { status, ...rest } = await (async () => {
    const one = await answer;
    return { status: one.status, ...((await one.json()) as { readonly error?: string; readonly message?: string }) };
  })();
  return [status, rest.error, rest.message];
};
const files = async (of = '@files.inbox'): Promise<readonly (readonly unknown[])[]> =>
  (await cluster.sql(`LIST ${of}`)).map(([name, size]) => [name, size]);
const md5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');

describe('a stage', () => {
  test('is made, shown and dropped; one that is there or is not', async () => {
    await cluster.sql("CREATE STAGE files.made WITH ('upload_ttl' = '1h')");
    await cluster.sql('CREATE STAGE IF NOT EXISTS files.MADE');
    const twice = await cluster.query('CREATE STAGE files.MADE');
    expect([twice.status, twice.body.error, twice.body.message]).toEqual([
      400,
      'ALREADY_EXISTS',
      'stage files.MADE exists already (line 1, column 14)',
    ]);
    const shown = await cluster.sql('SHOW STAGES IN lake.files');
    expect(shown.map((row) => row.slice(0, 4))).toEqual([
      ['inbox', 'admin', 'what comes in', null],
      ['made', 'admin', null, '1h'],
    ]);
    expect(await cluster.sql("SELECT stage_name FROM (SHOW STAGES IN lake.files LIKE 'm%')")).toEqual([['made']]);
    expect((await cluster.query('DROP SCHEMA lake.files')).body.error).toBe('SCHEMA_NOT_EMPTY');
    await cluster.sql('DROP STAGE files.Made');
    await cluster.sql('DROP STAGE IF EXISTS files.made');
    expect((await cluster.query('DROP STAGE files.made')).body).toMatchObject({
      error: 'STAGE_NOT_FOUND',
      sql_state: '42704',
    });
  });

  test('is renamed, also into another schema, with its files, their addresses, an upload under way and what was loaded', async () => {
    // In a catalog of its own, because an upload that is complete is known for a day, and its stage with it.
    await cluster.sql('CREATE CATALOG boxes');
    await cluster.sql('CREATE SCHEMA boxes.files');
    await cluster.sql('CREATE STAGE boxes.files.before');
    await cluster.sql('CREATE STAGE boxes.files.taken');
    await cluster.sql('CREATE SCHEMA boxes.files_2');
    await cluster.sql('CREATE TABLE boxes.files_2.t (a INT)');
    const asked = { stage: 'boxes.files.before', files: [{ path: 'a.csv' }, { path: 'b.csv' }] };
    const [one, two] = ((await post('presign', asked)).body as unknown as { readonly urls: readonly [Url, Url] }).urls;
    const many = { stage: 'boxes.files.before', path: 'many.bin' };
    const begun = (await post('presign/multipart/init', { ...many, size: 2 ** 20, part_size: 2 ** 20 }))
      .body as unknown as {
      readonly upload_id: string;
      readonly parts: readonly [{ readonly url: string }];
    };
    expect((await put(one.url, '1\n')).status).toBe(200);
    const load = (stage: string): Promise<readonly (readonly unknown[])[]> =>
      cluster.sql(`COPY INTO boxes.files_2.t FROM @${stage}/a.csv FILE_FORMAT = (TYPE = CSV)`);
    expect((await load('boxes.files.before'))[0]?.slice(1, 4)).toEqual(['LOADED', 1, 1]);

    const refused = async (sql: string) => {
      const { body } = await cluster.query(sql);
      return [body.error, body.sql_state, body.message];
    };
    expect(await refused('ALTER STAGE boxes.files.before RENAME TO TAKEN')).toEqual([
      'ALREADY_EXISTS',
      '42710',
      'stage TAKEN exists already (line 1, column 42)',
    ]);
    expect((await refused('ALTER STAGE boxes.files.none RENAME TO x'))[0]).toBe('STAGE_NOT_FOUND');
    expect((await refused('ALTER STAGE boxes.files.before RENAME TO boxes.none.x'))[0]).toBe('SCHEMA_NOT_FOUND');
    expect((await refused('ALTER STAGE IF EXISTS boxes.files.before RENAME TO boxes.none.x'))[0]).toBe(
      'SCHEMA_NOT_FOUND',
    );
    expect((await refused('ALTER STAGE boxes.files.before RENAME TO boxes.information_schema.x'))[0]).toBe(
      'SCHEMA_NOT_FOUND',
    );
    await cluster.sql('ALTER STAGE IF EXISTS boxes.files.none RENAME TO x');
    await cluster.sql('ALTER STAGE boxes.files.before RENAME TO "BEFORE"');
    await cluster.sql('ALTER STAGE boxes.files.before RENAME TO boxes.files_2."after, ß"');

    expect((await refused('LIST @boxes.files.before'))[0]).toBe('STAGE_NOT_FOUND');
    await cluster.sql('CREATE STAGE boxes.files.before');
    expect(await files('@boxes.files.before')).toEqual([]);
    expect((await put(two.url, '2\n')).status).toBe(200);
    const bytes = randomBytes(2 ** 20);
    expect((await put(begun.parts[0].url, bytes)).status).toBe(200);
    const parts = [{ part_number: 1, etag: md5(bytes) }];
    const done = { ...many, stage: 'boxes.files_2."after, ß"', upload_id: begun.upload_id, parts };
    expect(await post('presign/multipart/complete', done)).toMatchObject({ status: 200 });
    expect(await files('@boxes.files_2."after, ß"')).toEqual([
      ['a.csv', 2],
      ['b.csv', 2],
      ['many.bin', 2 ** 20],
    ]);
    // A file that was loaded under the old name counts as loaded.
    expect((await load('boxes.files_2."after, ß"')).map((row) => row[1])).not.toContain('LOADED');
    expect(await files('@boxes.files.before')).toEqual([]);
    for (const sql of [
      'DROP STAGE boxes.files.before',
      'DROP STAGE boxes.files.taken',
      'DROP STAGE boxes.files_2."after, ß"',
    ]) {
      await cluster.sql(sql);
    }
    await cluster.sql('DROP TABLE boxes.files_2.t');
    await cluster.sql('DROP SCHEMA boxes.files_2');
    await cluster.sql('DROP SCHEMA boxes.files');
    await cluster.sql('DROP CATALOG boxes');
  });

  test('has one of two new names that are given at once', async () => {
    await cluster.sql('CREATE STAGE files.racer');
    const answers = await Promise.all(
      ['red', 'blue'].map((name) => cluster.query(`ALTER STAGE files.racer RENAME TO ${name}`)),
    );
    expect(answers.map(({ body }) => body.error ?? 'done').sort()).toEqual(['STAGE_NOT_FOUND', 'done']);
    const [found = []] = await cluster.sql(
      "SELECT stage_name FROM (SHOW STAGES IN lake.files) WHERE stage_name IN ('red', 'blue')",
    );
    await cluster.sql(`DROP STAGE files.${found[0] as string}`);
    expect((await cluster.sql('SHOW STAGES IN lake.files')).map(([one]) => one)).toEqual(['inbox']);
  });

  test.each([
    ["CREATE STAGE s URL = 's3://bucket/x'", 'NOT_SUPPORTED'],
    ["CREATE STAGE s WITH ('encryption' = 'x')", 'INVALID_REQUEST'],
    ["CREATE STAGE s WITH ('upload_ttl' = 'soon')", 'INVALID_REQUEST'],
    ['LIST @files.inbox/../x', 'INVALID_REQUEST'],
    ["LIST '@files.inbox/.uploads'", 'INVALID_REQUEST'],
    ['LIST @files.inbox/a--b', 'SYNTAX_ERROR'],
    ['LIST files.inbox', 'SYNTAX_ERROR'],
    ['LIST @none.inbox', 'SCHEMA_NOT_FOUND'],
    ['LIST @files.none', 'STAGE_NOT_FOUND'],
    ['REMOVE @elsewhere.files.inbox', 'CATALOG_NOT_FOUND'],
    ['LIST @a.b.c.d', 'SYNTAX_ERROR'],
  ])('%s is %s', async (sql, code) => {
    expect((await cluster.query(sql)).body).toMatchObject({ error: code });
  });
});

describe('a signed URL', () => {
  test('takes a file, which is listed, read and removed', async () => {
    const bytes = randomBytes(300_000);
    const { url, method, headers } = await presign('in/ä b.csv', { size: bytes.length });
    expect(method).toBe('PUT');
    const answer = await put(url, bytes, { headers });
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { path: 'in/ä b.csv', size: bytes.length, etag: answer.headers.get('etag')?.slice(1, -1) },
    ]);
    expect(await files()).toEqual([['in/ä b.csv', 300000]]);
    expect(await files("'@files.inbox/in/ä b.csv'")).toHaveLength(1);
    expect(await files('@files.inbox/in')).toHaveLength(1);
    expect(await files('@files.inbox/i')).toEqual([]);

    const get = await presign('in/ä b.csv', { method: 'GET' });
    const whole = await send(get.url);
    expect(md5(new Uint8Array(await whole.arrayBuffer()))).toBe(md5(bytes));
    expect(whole.headers.get('content-length')).toBe('300000');
    const some = await send(get.url, { headers: { range: 'bytes=10-19' } });
    expect([some.status, some.headers.get('content-range')]).toEqual([206, 'bytes 10-19/300000']);
    expect(Buffer.from(await some.arrayBuffer())).toEqual(bytes.subarray(10, 20));

    await put((await presign('in/ä b.csv')).url, 'other');
    expect(await files()).toEqual([['in/ä b.csv', 5]]);
    expect(await cluster.sql('REMOVE @files.inbox/in')).toEqual([[1]]);
    expect(await files()).toEqual([]);
    expect((await errorOf(send(get.url))).slice(0, 2)).toEqual([404, 'STAGE_FILE_NOT_FOUND']);
  });

  test('is for its path, its method, its size and its time', async () => {
    const { url } = await presign('one.csv', { size: 3 });
    expect(await errorOf(put(url.replace('one.csv', 'two.csv'), 'abc'))).toEqual([
      403,
      'URL_NOT_VALID',
      'the URL is for another path',
    ]);
    expect((await errorOf(send(url)))[1]).toBe('URL_NOT_VALID');
    expect(await errorOf(put(url, 'abcd'))).toEqual([
      400,
      'INVALID_REQUEST',
      'the body has 4 bytes, and the URL is for 3',
    ]);
    expect((await errorOf(put(`${url}x`, 'abc')))[1]).toBe('URL_NOT_VALID');
    const short = await presign('one.csv', { expires_in: 1 });
    await expect
      .poll(async () => (await errorOf(put(short.url, 'abc')))[2], { timeout: patience(5_000) })
      .toMatch(/has expired/);
    expect(
      (await post('presign', { stage: 'files.inbox', files: [{ path: 'a' }], expires_in: 9_999_999 })).body,
    ).toMatchObject({ error: 'INVALID_REQUEST' });
    await cluster.sql('REMOVE @files.inbox');
  });

  test('is not given to a principal without the right, nor for what is no stage', async () => {
    const reader = await cluster.token({ scope: ['table:read', 'catalog:read', 'namespace:read'] });
    const asked = { stage: 'files.inbox', files: [{ path: 'a' }] };
    expect((await post('presign', asked, reader)).body).toMatchObject({ error: 'FORBIDDEN' });
    expect((await post('presign', { ...asked, method: 'GET' }, reader)).status).toBe(200);
    expect((await post('presign', { ...asked, stage: 'files.none' })).body).toMatchObject({ error: 'STAGE_NOT_FOUND' });
    expect((await post('presign', { ...asked, stage: 'files.inbox/x' })).body).toMatchObject({
      error: 'INVALID_REQUEST',
    });
    for (const path of ['', '/a', 'a/../b', 'a//b', '.uploads/x', 'a\\b', 'a/']) {
      expect((await post('presign', { ...asked, files: [{ path }] })).body, path).toMatchObject({
        error: 'INVALID_REQUEST',
      });
    }
    expect((await post('presign', asked, 'nobody')).status).toBe(401);
  });

  test('leads to the stage of its principal only: each has one of its own', async () => {
    const clients = new AdminClients(cluster);
    const other = await clients.tokenOf(await clients.admin('create', 'other', '--scope', SCOPES));
    const of = async (as: string): Promise<string> => {
      const { body } = await post('presign', { stage: '~', files: [{ path: 'mine.txt' }] }, as);
      return (body as unknown as { readonly urls: readonly [Url] }).urls[0].url;
    };
    expect((await put(await of(token), 'first')).status).toBe(200);
    expect((await put(await of(other), 'second one')).status).toBe(200);
    expect(await cluster.sql('SELECT name, size FROM (LIST @~)')).toEqual([['mine.txt', 5]]);
    expect(await cluster.sql('SELECT name, size FROM (LIST @~/mine.txt)', { token: other })).toEqual([
      ['mine.txt', 10],
    ]);
  });
});

/** An upload of three parts of 1 MiB, the last one shorter. */
async function begin(path: string, size: number | null = 2 * 2 ** 20 + 7) {
  const asked = { stage: '@lake.files.inbox', path, part_size: 2 ** 20, ...(size === null ? {} : { size }) };
  const { status, body } = await post('presign/multipart/init', asked);
  expect([status, body]).toMatchObject([200, { part_size: 2 ** 20 }]);
  return body as unknown as {
    readonly upload_id: string;
    readonly parts: readonly { readonly part_number: number; readonly url: string }[];
    readonly 'expires-at-ms': number;
  };
}

describe('an upload in parts', () => {
  const bytes = randomBytes(2 * 2 ** 20 + 7);
  const part = (number: number): Buffer => bytes.subarray((number - 1) * 2 ** 20, number * 2 ** 20);
  const sent = async (parts: Awaited<ReturnType<typeof begin>>['parts']) =>
    Promise.all(
      parts.map(async ({ part_number, url }) => {
        const answer = await put(url, part(part_number));
        expect(answer.status).toBe(200);
        return { part_number, etag: answer.headers.get('etag') ?? '' };
      }),
    );

  test('comes in any order, and again, and is one file when it is completed', async () => {
    const { upload_id, parts } = await begin('big.bin');
    expect(parts.map((one) => one.part_number)).toEqual([1, 2, 3]);
    await put(parts[0]?.url ?? '', randomBytes(2 ** 20));
    const done = await sent(parts.toReversed());
    expect(await files()).toEqual([]);
    const of = { stage: 'files.inbox', path: 'big.bin', upload_id };
    const complete = (list: readonly object[]) => post('presign/multipart/complete', { ...of, parts: list });
    const inOrder = done.toReversed();
    const [one = {}, two = {}, three = {}] = inOrder;
    expect((await complete([one, one, two])).body).toMatchObject({ message: 'part 1 stands twice' });
    expect((await complete([one, three, two])).body).toMatchObject({ message: 'part 2 stands behind part 3' });
    expect((await complete([one, two])).body).toMatchObject({ error: 'INVALID_REQUEST' });
    expect((await complete([one, two, { ...three, etag: 'x' }])).body).toMatchObject({ error: 'INVALID_REQUEST' });
    expect((await post('presign/multipart/complete', { ...of, path: 'x', parts: inOrder })).body).toMatchObject({
      error: 'INVALID_REQUEST',
    });
    const { status, body } = await complete(inOrder);
    expect([status, body]).toMatchObject([200, { path: 'big.bin', size: bytes.length }]);
    const got = await send((await presign('big.bin', { method: 'GET' })).url);
    expect(md5(new Uint8Array(await got.arrayBuffer()))).toBe(md5(bytes));
    expect((await complete(inOrder)).body).toMatchObject({ error: 'UPLOAD_NOT_FOUND' });
    expect((await errorOf(put(parts[0]?.url ?? '', part(1))))[1]).toBe('UPLOAD_NOT_FOUND');
    await cluster.sql('REMOVE @files.inbox');
  });

  test('of unknown size has parts of one length, but for the last', async () => {
    const { upload_id, parts } = await begin('unknown.bin', null);
    expect(parts).toHaveLength(100);
    const done = await sent(parts.slice(0, 3));
    const of = { stage: 'files.inbox', path: 'unknown.bin', upload_id, parts: done };
    expect((await post('presign/multipart/complete', of)).body).toMatchObject({ size: bytes.length });
    await cluster.sql('REMOVE @files.inbox');
  });

  test('that is aborted leaves nothing', async () => {
    const { upload_id, parts } = await begin('gone.bin');
    await sent(parts);
    const of = { stage: 'files.inbox', path: 'gone.bin', upload_id };
    expect((await post('presign/multipart/abort', of)).status).toBe(204);
    expect((await post('presign/multipart/abort', of)).status).toBe(404);
    expect(await leftInStages()).toEqual([]);
  });

  test('that nobody completes is gone after the upload_ttl of its stage, and so is a file that never came whole', async () => {
    await cluster.sql("CREATE STAGE files.brief WITH ('upload_ttl' = '3s')");
    const asked = { stage: 'files.brief', path: 'dead.bin', size: 2 ** 20, part_size: 2 ** 20 };
    const { body } = await post('presign/multipart/init', asked);
    const [{ url }] = (body as unknown as { readonly parts: readonly [{ readonly url: string }] }).parts;
    expect((await put(url, part(1))).status).toBe(200);
    expect(await leftInStages()).toHaveLength(1);
    await expect.poll(leftInStages, { timeout: patience(10_000) }).toEqual([]);
    await cluster.sql('DROP STAGE files.brief');
  });

  test('a dropped stage takes its files with it', async () => {
    await cluster.sql('CREATE STAGE files.doomed');
    const { body } = await post('presign', { stage: 'files.doomed', files: [{ path: 'a/b.txt' }] });
    const [{ url }] = (body as unknown as { readonly urls: readonly [Url] }).urls;
    expect((await put(url, 'x')).status).toBe(200);
    expect(await leftInStages()).toHaveLength(1);
    await cluster.sql('DROP STAGE files.doomed');
    await expect.poll(leftInStages, { timeout: patience(10_000) }).toEqual([]);
    expect((await errorOf(put(url, 'x')))[1]).toBe('STAGE_NOT_FOUND');
  });
});

test('every operation has answered as the OpenAPI document says', () => {
  expect([...operations].sort()).toEqual(STAGE_OPERATIONS);
});

/** All files below the stages of the warehouse, but for those of users' own. */
async function leftInStages(): Promise<readonly string[]> {
  const found = await readdir(join(cluster.dataDir, 'warehouse/.stages'), { recursive: true, withFileTypes: true });
  return found.filter((one) => one.isFile() && one.name !== 'mine.txt').map((one) => join(one.parentPath, one.name));
}
