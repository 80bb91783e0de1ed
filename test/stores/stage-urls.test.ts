import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createHash, randomBytes } from 'node:crypto';
import { request as httpsRequest } from 'node:https';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStorage } from '#shared/storage/open-storage.ts';
import { settingsEnv, type StartedCluster } from '#test/support/cluster.ts';
import { OTHER_STORE_MS, OTHER_STORES, type OtherStore } from '#test/support/other-stores.ts';
import { serviceLogs } from '#test/support/service-logs.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Files of stages in Google's and Azure's stores, by addresses of the store that the catalog signs. */

type SignedUrl = {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly 'expires-at-ms': number;
};
type Answer = { readonly status: number; readonly headers: Readonly<Record<string, unknown>>; readonly body: Buffer };
type Sent = {
  readonly url: string;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
};

type Json = Readonly<Record<string, unknown>>;
/** Bytes of a part. */
const PART = 5 * 2 ** 20;

/** Sends a request as it is; the authority of Azurite's certificate is trusted by `node:https` alone. */
const send = ({ url, method, headers = {}, body }: Sent): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const length = method === 'PUT' ? { 'content-length': String(Buffer.byteLength(body ?? '')) } : {};
    const make = url.startsWith('https:') ? httpsRequest : httpRequest;
    const outgoing = make(url, { method, headers: { ...headers, ...length } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
      );
    });
    outgoing.once('error', reject).end(body);
  });

describe.each(Object.keys(OTHER_STORES) as (keyof typeof OTHER_STORES)[])('in a store of %s', (kind) => {
  let store: OtherStore;
  let cluster: StartedCluster;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skein-stage-urls-'));
    store = await OTHER_STORES[kind]();
    cluster = await startOwnCluster({
      args: ['--storage', `${store.root}/first`, ...store.flags],
      env: { ...store.env, ...settingsEnv({ 'catalog.background_interval': '200ms' }) },
    });
    for (const name of ['inbox', 'beside']) await cluster.sql(`CREATE STAGE lake.default.${name}`);
  }, OTHER_STORE_MS);
  afterAll(async () => {
    await cluster?.stop();
    await store?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  async function presign(
    path: string,
    {
      method = 'PUT',
      stage = 'inbox',
      ...more
    }: { method?: 'GET' | 'PUT'; stage?: string; size?: number; expires_in?: number } = {},
  ): Promise<SignedUrl> {
    const { size, expires_in } = more;
    const answer = await fetch(`${cluster.queryUrl}/v1/stages/presign`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await cluster.token()}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        stage: `lake.default.${stage}`,
        files: [{ path, ...(size === undefined ? {} : { size }) }],
        method,
        expires_in,
      }),
    });
    const { urls } = (await answer.json()) as { readonly urls: readonly SignedUrl[] };
    const [url] = urls;
    if (url === undefined) throw new Error('no URL');
    return url;
  }

  test('an address of the store takes a file of any name, and gives it again, as bytes for a file', async () => {
    for (const name of ['in/ä b+c%20.csv', 'in/year=2024/q"?#&;.csv', "in/(1)'!*.bin"]) {
      const asked = await presign(name);
      expect(asked.url.startsWith(cluster.queryUrl)).toBe(false);
      expect([200, 201]).toContain((await send({ ...asked, body: `bytes of ${name}` })).status);
      const given = await presign(name, { method: 'GET' });
      const answer = await send(given);
      expect([answer.status, answer.body.toString()]).toEqual([200, `bytes of ${name}`]);
      expect(answer.headers['content-type']).toBe('application/octet-stream');
      expect(answer.headers['content-disposition']).toMatch(/^attachment; filename\*=UTF-8''/);
      const part = await send({ ...given, headers: { range: 'bytes=6-7' } });
      expect(part.body.toString()).toBe('of');
    }
    expect(await cluster.sql('SELECT count(*) FROM @lake.default.inbox/in (FILE_FORMAT => (TYPE = CSV))')).toEqual([
      [3],
    ]);
    expect(await cluster.sql('REMOVE @lake.default.inbox')).toEqual([[3]]);
  });

  test('it ends within an hour, and opens nothing else', async () => {
    await send({ ...(await presign('own')), body: 'own' });
    await send({ ...(await presign('other')), body: 'other' });
    await send({ ...(await presign('secret', { stage: 'beside' })), body: 'a secret' });
    const [get, put] = [await presign('own', { method: 'GET' }), await presign('own')];
    expect(get['expires-at-ms'] - Date.now()).toBeGreaterThan(60_000);
    expect(get['expires-at-ms'] - Date.now()).toBeLessThanOrEqual(3_600_000);
    const secret = new URL((await presign('secret', { stage: 'beside', method: 'GET' })).url).pathname;
    const place = new URL(get.url).pathname;
    const at = (url: string, path: string): string => url.replace(place, path);
    const longer = (url: string): string =>
      url.replace(/X-Goog-Expires=\d+/, 'X-Goog-Expires=600000').replace(/&se=[^&]+/, '&se=2099-01-01T00%3A00%3A00Z');
    const ended = await presign('own', { method: 'GET', expires_in: 1 });
    const attacks: Readonly<Record<string, Sent>> = {
      'another file': { ...get, url: at(get.url, place.replace(/own$/, 'other')) },
      'another stage': { ...get, url: at(get.url, secret) },
      'a climb': { ...get, url: get.url.replace('/own?', '/other/../other?') },
      'a write by one that reads': { ...get, method: 'PUT', headers: put.headers, body: 'evil' },
      'a removal by one that reads': { ...get, method: 'DELETE' },
      'a read by one that writes': { ...put, method: 'GET' },
      'a removal by one that writes': { ...put, method: 'DELETE' },
      'a write into another stage': { ...put, url: at(put.url, secret), body: 'evil' },
      'a longer life': { ...get, url: longer(get.url) },
    };
    for (const [what, sent] of Object.entries(attacks)) {
      const { status, body } = await send(sent);
      expect(status, what).toBeGreaterThanOrEqual(400);
      expect(body.toString(), what).not.toMatch(/a secret|other/);
    }
    await expect.poll(async () => (await send(ended)).status, { timeout: patience(5_000) }).toBe(403);
    expect((await send(get)).body.toString()).toBe('own');
    await cluster.sql('REMOVE @lake.default.inbox');
  });

  test('a size is held to: by the store, or by the coordinator, whose address it then is', async () => {
    const sized = await presign('sized', { size: 3 });
    expect(sized.url.startsWith(cluster.queryUrl)).toBe(kind === 'adls');
    for (const body of ['four', 'no']) expect((await send({ ...sized, body })).status).toBeGreaterThanOrEqual(400);
    const { headers: _left, ...bare } = sized;
    if (kind === 'gcs') expect((await send({ ...bare, body: 'abc' })).status).toBe(403);
    expect((await send({ ...sized, body: 'abc' })).status).toBe(200);
    expect((await cluster.sql('LIST @lake.default.inbox')).map(([name, size]) => [name, size])).toEqual([['sized', 3]]);
    await cluster.sql('REMOVE @lake.default.inbox');
  });

  async function post(path: string, body: object): Promise<{ readonly status: number; readonly body: Json }> {
    const answer = await fetch(`${cluster.queryUrl}/v1/stages/presign/multipart/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await cluster.token()}`, 'content-type': 'application/json' },
      body: JSON.stringify({ stage: 'lake.default.inbox', ...body }),
    });
    const text = await answer.text();
    return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Json };
  }

  /** Begins an upload of two parts. */
  async function begin(
    path: string,
    size: number,
    stage = 'inbox',
  ): Promise<{ readonly uploadId: string; readonly urls: readonly string[] }> {
    const { status, body } = await post('init', { path, size, part_size: PART, stage: `lake.default.${stage}` });
    expect(status, JSON.stringify(body)).toBe(200);
    const parts = body['parts'] as readonly { readonly url: string }[];
    return { uploadId: String(body['upload_id']), urls: parts.map(({ url }) => url) };
  }

  const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');
  const listed = async (): Promise<readonly unknown[]> =>
    (await cluster.sql('LIST @lake.default.inbox')).map(([name, size]) => [name, size]);

  test('parts go to the store, in any order and again, and are the file when they are completed', async () => {
    const bytes = randomBytes(PART + 10);
    const [first, last] = [bytes.subarray(0, PART), bytes.subarray(PART)];
    const { uploadId, urls } = await begin('parts.bin', bytes.length);
    expect(urls.some((url) => url.startsWith(cluster.queryUrl))).toBe(false);
    const [one = '', two = ''] = urls;
    const put = (url: string, body: Buffer): Promise<Answer> => send({ url, method: 'PUT', body });
    expect([200, 201]).toContain((await put(two, last)).status);
    await put(one, randomBytes(PART));
    await put(one, first);
    expect(await listed()).toEqual([]);
    const parts = [first, last].map((part, i) => ({ part_number: i + 1, etag: md5(part) }));
    const named = { path: 'parts.bin', upload_id: uploadId };
    const short = await post('complete', { ...named, parts: parts.slice(0, 1) });
    expect([short.status, short.body['error']]).toEqual([400, 'INVALID_REQUEST']);
    expect((await post('complete', { ...named, parts })).status).toBe(200);
    expect(await listed()).toEqual([['parts.bin', bytes.length]]);
    const got = await send(await presign('parts.bin', { method: 'GET' }));
    expect(bytes.equals(got.body)).toBe(true);
    expect((await post('complete', { ...named, parts })).body['error']).toBe('UPLOAD_NOT_FOUND');
    await cluster.sql('REMOVE @lake.default.inbox');
  });

  test('an upload that is aborted, or whose parts have other sizes, leaves nothing', async () => {
    const { uploadId, urls } = await begin('gone.bin', PART + 10);
    const [one = '', two = ''] = urls;
    await send({ url: one, method: 'PUT', body: randomBytes(PART) });
    const [large, named] = [randomBytes(11), { path: 'gone.bin', upload_id: uploadId }];
    await send({ url: two, method: 'PUT', body: large });
    const parts = [
      { part_number: 1, etag: 'x' },
      { part_number: 2, etag: md5(large) },
    ];
    expect((await post('complete', { ...named, parts })).body['error']).toBe('INVALID_REQUEST');
    expect((await post('abort', named)).status).toBe(204);
    expect((await post('complete', { ...named, parts })).body['error']).toBe('UPLOAD_NOT_FOUND');
    expect(await listed()).toEqual([]);
    const root = `${store.root}/first`;
    const left = (await Array.fromAsync(openStorage(root, store.credential).list(root))).flat();
    expect(left.filter((one) => one.includes('gone.bin') || one.includes(uploadId))).toEqual([]);
  });

  test('the address of a part that has ended is asked for again, and is of its upload alone', async () => {
    const { uploadId, urls } = await begin('renewed.bin', 5);
    expect(urls).toHaveLength(1);
    const ask = async (path: string): Promise<Json> => {
      const answer = await fetch(`${cluster.queryUrl}/v1/stages/presign`, {
        method: 'POST',
        headers: { authorization: `Bearer ${await cluster.token()}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          stage: 'lake.default.inbox',
          files: [{ path, upload_id: uploadId, part_number: 1, size: 5 }],
        }),
      });
      return (await answer.json()) as Json;
    };
    const [renewed] = (await ask('renewed.bin'))['urls'] as readonly SignedUrl[];
    const url = renewed?.url ?? '';
    expect(url.startsWith(cluster.queryUrl)).toBe(false);
    const body = Buffer.from('abcde');
    expect([200, 201]).toContain((await send({ url, method: 'PUT', body })).status);
    const parts = [{ part_number: 1, etag: md5(body) }];
    expect((await ask('other.bin'))['error']).toBe('INVALID_REQUEST');
    expect((await post('complete', { path: 'renewed.bin', upload_id: uploadId, parts })).status).toBe(200);
    expect(await listed()).toEqual([['renewed.bin', 5]]);
    await cluster.sql('REMOVE @lake.default.inbox');
  });

  test('an upload that nobody completes in time, and a file that comes into a dropped stage, leave nothing', async () => {
    const root = `${store.root}/first`;
    const below = async (text: string): Promise<readonly string[]> =>
      (await Array.fromAsync(openStorage(root, store.credential).list(root)))
        .flat()
        .filter((one) => one.includes(text));
    await cluster.sql("CREATE STAGE lake.default.brief WITH ('upload_ttl' = '4s')");
    const { uploadId, urls } = await begin('dead.bin', PART + 1, 'brief');
    const url = kind === 'adls' ? (urls[0] ?? '').replace(/comp=block&blockid=[^&]*&/, '') : (urls[0] ?? '');
    const headers = kind === 'adls' ? { 'x-ms-blob-type': 'BlockBlob' } : {};
    expect([200, 201]).toContain((await send({ url, method: 'PUT', headers, body: Buffer.alloc(PART) })).status);
    const { credential } = store;
    if (credential.kind === 'gcs') {
      const uploads = async (): Promise<string> =>
        (
          await fetch(`${credential.endpoint}/warehouse?uploads`, {
            headers: { authorization: `Bearer ${credential.token}` },
          })
        ).text();
      expect(await uploads()).toContain('dead.bin');
      await expect.poll(uploads, { timeout: patience(15_000) }).not.toContain('dead.bin');
    } else {
      expect(await below(uploadId)).toHaveLength(1);
      await expect.poll(() => below(uploadId), { timeout: patience(15_000) }).toEqual([]);
    }
    await cluster.sql('CREATE STAGE lake.default.doomed');
    const late = await presign('late.txt', { stage: 'doomed' });
    await cluster.sql('DROP STAGE lake.default.doomed');
    expect([200, 201]).toContain((await send({ ...late, body: 'late' })).status);
    await expect.poll(() => below('late.txt'), { timeout: patience(15_000) }).toEqual([]);
  });

  if (kind === 'adls') {
    test('whoever has the address of a part cannot make the file by it', async () => {
      const { uploadId, urls } = await begin('mine.bin', PART + 1);
      const url = (urls[0] ?? '').replace(/comp=block&blockid=[^&]*&/, '');
      const forged = { 'x-ms-blob-type': 'BlockBlob', 'x-ms-meta-skein_write': uploadId };
      expect((await send({ url, method: 'PUT', headers: forged, body: randomBytes(10) })).status).toBe(201);
      expect(await listed()).toEqual([]);
      for (const part of urls) await send({ url: part, method: 'PUT', body: randomBytes(part === urls[0] ? PART : 1) });
      const parts = [1, 2].map((part_number) => ({ part_number, etag: 'x' }));
      const { body } = await post('complete', { path: 'mine.bin', upload_id: uploadId, parts });
      expect(body['error']).toBe('INVALID_REQUEST');
      expect(await listed()).toEqual([]);
      await post('abort', { path: 'mine.bin', upload_id: uploadId });
    });
  }

  test('skein put and get follow the addresses, with small files and files in parts', async () => {
    const [small, large] = [randomBytes(1_000), randomBytes(65 * 2 ** 20)];
    await writeFile(join(folder, 'small ä.bin'), small);
    await writeFile(join(folder, 'large.bin'), large);
    const stage = '@lake.default.inbox/cli/';
    await cluster.cliOk(['put', join(folder, 'small ä.bin'), join(folder, 'large.bin'), stage], store.env);
    expect((await cluster.sql('LIST @lake.default.inbox')).map(([name, size]) => [name, size])).toEqual([
      ['cli/large.bin', large.length],
      ['cli/small ä.bin', small.length],
    ]);
    await cluster.cliOk(['get', '@lake.default.inbox/cli', join(folder, 'got')], store.env);
    expect(small.equals(await readFile(join(folder, 'got/small ä.bin')))).toBe(true);
    expect(large.equals(await readFile(join(folder, 'got/large.bin')))).toBe(true);
  });

  test('no secret is in the logs', async () => {
    const logs = await serviceLogs(cluster);
    expect(logs.length).toBeGreaterThan(1_000);
    for (const secret of [...store.secrets(), 'X-Goog-Signature', 'sig='])
      expect(logs.includes(secret), secret.slice(0, 6)).toBe(false);
  });
});
