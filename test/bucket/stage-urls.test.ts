import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { S3Client } from '#shared/storage/s3/s3-client.ts';
import { openUploads } from '#shared/storage/s3/s3-uploads.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { makeBucketCatalog } from '#test/support/bucket-catalog.ts';
import { startChromium } from '#test/support/chromium.ts';
import { settingsEnv, type StartedCluster } from '#test/support/cluster.ts';
import { buildConsole, openConsole } from '#test/support/console.ts';
import { MINIO_BUILD_MS, startMinio, type Minio } from '#test/support/minio.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';
import { sendRaw, signWith, type Outcome, type Sent } from './store-ways.ts';

/** Files of stages that clients put and get at the store itself, and all that somebody may try who has an address for one of them. */

const MIB = 2 ** 20;

let minio: Minio;
let cluster: StartedCluster;
let folder: string;
/** Folders of stages, as paths of the store. */
const places: Record<'inbox' | 'beside' | 'theirs', string> = { inbox: '', beside: '', theirs: '' };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-stage-urls-'));
  minio = await startMinio();
  await minio.makeBucket('warehouse');
  cluster = await startOwnCluster({ workers: 1, env: settingsEnv({ 'catalog.background_interval': '200ms' }) });
  await makeBucketCatalog(cluster, minio, { name: 'cloud', location: 's3://warehouse/lake' });
  await cluster.cliOk(['admin', 'tenant', 'create', 'rival', '--user', 'eve']);
  await makeBucketCatalog(cluster, minio, {
    name: 'theirs',
    location: 's3://warehouse/rival',
    flags: ['--tenant', 'rival'],
  });
  await cluster.sql('CREATE SCHEMA cloud.s');
  for (const name of ['inbox', 'beside']) await cluster.sql(`CREATE STAGE cloud.s.${name}`);
  const token = await cluster.token({ tenant: 'rival', user: 'eve' });
  await cluster.sql('CREATE SCHEMA theirs.s', { token });
  await cluster.sql('CREATE STAGE theirs.s.t', { token });
  places.inbox = await placeOf('cloud.s.inbox');
  places.beside = await placeOf('cloud.s.beside');
  places.theirs = await placeOf('theirs.s.t', token);
  for (const place of [places.beside, places.theirs]) await writeObject(`${place}/secret`, 'a secret');
}, MINIO_BUILD_MS);

afterAll(async () => {
  await cluster?.stop();
  await minio?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

type Answer<T> = { readonly status: number; readonly body: T };
type SignedUrl = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly 'expires-at-ms': number;
};
type Begun = {
  readonly upload_id: string;
  readonly part_size: number;
  readonly parts: readonly { readonly part_number: number; readonly url: string }[];
  readonly 'expires-at-ms': number;
};

async function post<T>(path: string, body: object, token?: string): Promise<Answer<T>> {
  const answer = await fetch(`${cluster.queryUrl}/v1/stages/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token ?? (await cluster.token())}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as T };
}

type Asked = {
  readonly method?: 'GET' | 'PUT';
  readonly expires_in?: number;
  readonly stage?: string;
  readonly token?: string;
  readonly size?: number;
  readonly upload_id?: string;
  readonly part_number?: number;
};

/** A URL for a file of the stage. */
async function presign(path: string, { method, expires_in, stage, token, ...file }: Asked = {}): Promise<SignedUrl> {
  const asked = { stage: stage ?? 'cloud.s.inbox', files: [{ path, ...file }], method, expires_in };
  const { status, body } = await post<{ readonly urls: readonly SignedUrl[] }>('presign', asked, token);
  expect(status, JSON.stringify(body)).toBe(200);
  const [url] = body.urls;
  if (url === undefined) throw new Error('no URL');
  return url;
}

const put = (url: string, body: Uint8Array | string): Promise<Response> =>
  fetch(url, { method: 'PUT', body: typeof body === 'string' ? body : new Uint8Array(body) });

/** The path of a stage's folder at the store, with its bucket. */
async function placeOf(stage: string, token?: string): Promise<string> {
  const { url } = await presign('x', { stage, ...(token === undefined ? {} : { token }) });
  return new URL(url).pathname.replace(/\/x$/, '');
}

const writeObject = (path: string, text: string): Promise<void> =>
  openStorage(`s3:/${path}`, minio.key).write(`s3:/${path}`, Buffer.from(text));
const rootly = async (sent: Sent): Promise<Outcome> =>
  sendRaw(minio.endpoint, { ...sent, headers: await signWith(minio.key, minio.endpoint, sent) });
const textOf = async (path: string): Promise<string | undefined> => {
  const { status, body } = await rootly({ method: 'GET', target: path });
  return status === 200 ? body : undefined;
};
const uploadsOf = (path: string): Promise<readonly unknown[]> => {
  const [, bucket = '', ...key] = path.split('/');
  return openUploads(new S3Client(minio.key), bucket, key.join('/'));
};
const files = async (): Promise<readonly unknown[]> =>
  (await cluster.sql('LIST @cloud.s.inbox')).map(([name, size]) => [name, size]);
const errorOf = ({ status, body }: Answer<unknown>): readonly unknown[] => [
  status,
  (body as { readonly error?: string }).error,
];

describe('an address of the store', () => {
  test('takes a file of any name, which SQL lists, and gives it again, also a part of it', async () => {
    const bytes = randomBytes(100_000);
    for (const name of ['in/ä b+c%20.csv', 'in/year=2024/q"?#&;.csv', "in/(1)'!*.bin"]) {
      const asked = await presign(name, { size: bytes.length });
      expect(asked.url.startsWith(`${minio.endpoint}${places.inbox}/`)).toBe(true);
      const answer = await fetch(asked.url, { method: 'PUT', headers: asked.headers, body: bytes });
      expect([answer.status, await answer.text()]).toEqual([200, '']);
      const { url } = await presign(name, { method: 'GET' });
      const got = await fetch(url);
      expect(bytes.equals(Buffer.from(await got.arrayBuffer()))).toBe(true);
      expect(got.headers.get('content-disposition')).toMatch(/^attachment; filename\*=UTF-8''/);
      expect(got.headers.get('content-type')).toBe('application/octet-stream');
      const some = await fetch(url, { headers: { range: 'bytes=10-19' } });
      expect(Buffer.from(await some.arrayBuffer())).toEqual(bytes.subarray(10, 20));
      expect(await cluster.sql(`LIST '@cloud.s.inbox/${name.replaceAll("'", "''")}'`)).toHaveLength(1);
    }
    expect(await cluster.sql('REMOVE @cloud.s.inbox')).toEqual([[3]]);
  });

  test('ends with its key at the latest, and says when', async () => {
    for (const expires_in of [undefined, 600_000]) {
      const { 'expires-at-ms': end, url } = await presign('x', expires_in === undefined ? {} : { expires_in });
      const leftMs = end - Date.now();
      expect(leftMs).toBeGreaterThan(15 * 60_000);
      expect(leftMs).toBeLessThanOrEqual(3_600_000);
      expect(Math.abs(Number(new URL(url).searchParams.get('X-Amz-Expires')) * 1_000 - leftMs)).toBeLessThan(3_000);
    }
  });

  test('is the one that clients know, where Skein calls the store by another', async () => {
    await makeBucketCatalog(cluster, minio, { name: 'inside', location: 's3://warehouse/inside' });
    const outside = minio.endpoint.replace('127.0.0.1', 'localhost');
    const flags = ['--endpoint', outside, '--internal-endpoint', minio.endpoint];
    await cluster.cliOk(['admin', 'catalog', 'alter', 'inside', ...flags]);
    const { url } = await presign('a', { stage: '~' });
    expect(url).not.toContain('localhost');
    await cluster.sql('CREATE SCHEMA inside.s');
    await cluster.sql('CREATE STAGE inside.s.t');
    const seen = await presign('a', { stage: 'inside.s.t' });
    expect(seen.url.startsWith(`${outside}/warehouse/inside/.stages/`)).toBe(true);
    expect((await put(seen.url, 'abc')).status).toBe(200);
    expect((await cluster.sql('LIST @inside.s.t')).map(([name]) => name)).toEqual(['a']);
  });

  test('is the coordinator’s own where the store has no key for one stage alone', async () => {
    const file = join(folder, 'engine.yaml');
    const { accessKeyId, secretAccessKey } = minio.key;
    await writeFile(file, `access_key_id: ${accessKeyId}\nsecret_access_key: ${secretAccessKey}\n`, { mode: 0o600 });
    await makeBucketCatalog(cluster, minio, { name: 'plain', location: 's3://warehouse/plain' });
    const flags = ['--flavor', 'compatible', '--path-style', '--engine-credentials', file];
    await cluster.cliOk(['admin', 'catalog', 'alter', 'plain', ...flags]);
    await cluster.sql('CREATE SCHEMA plain.s');
    await cluster.sql('CREATE STAGE plain.s.t');
    const { url } = await presign('a', { stage: 'plain.s.t', size: 3 });
    expect(url.startsWith(`${cluster.queryUrl}/v1/stages/files/`)).toBe(true);
    expect((await put(url, 'abc')).status).toBe(200);
    expect((await cluster.sql('LIST @plain.s.t')).map(([name]) => name)).toEqual(['a']);
  });

  test('is the coordinator’s own for a page, which may ask no other host: whole files and parts go through it', async () => {
    const own = `${cluster.queryUrl}/v1/stages/files/`;
    const through = { stage: 'cloud.s.inbox', through: 'coordinator' };
    const urlOf = async (method: 'PUT' | 'GET'): Promise<string> => {
      const asked = { ...through, files: [{ path: 'page' }], method };
      return (await post<{ readonly urls: readonly SignedUrl[] }>('presign', asked)).body.urls[0]?.url ?? '';
    };
    const whole = await urlOf('PUT');
    expect(whole.startsWith(own)).toBe(true);
    expect((await put(whole, 'abc')).status).toBe(200);
    const got = await urlOf('GET');
    expect(got.startsWith(own)).toBe(true);
    expect(await (await fetch(got)).text()).toBe('abc');
    const bytes = randomBytes(6 * MIB);
    const named = { ...through, path: 'parts', size: bytes.length, part_size: 5 * MIB };
    const { body: begun } = await post<Begun>('presign/multipart/init', named);
    expect(begun.parts.every(({ url }) => url.startsWith(own))).toBe(true);
    const parts = [];
    for (const { part_number, url } of begun.parts) {
      const part = bytes.subarray((part_number - 1) * begun.part_size, part_number * begun.part_size);
      // Its answer was lost: it comes again.
      await put(url, part);
      parts.push({ part_number, etag: (await put(url, part)).headers.get('etag') ?? '' });
    }
    const whose = { stage: 'cloud.s.inbox', path: 'parts', upload_id: begun.upload_id, parts };
    expect((await post('presign/multipart/complete', whose)).status).toBe(200);
    expect(await files()).toEqual([
      ['page', 3],
      ['parts', bytes.length],
    ]);
    await cluster.sql('REMOVE @cloud.s.inbox');
    const reader = await cluster.token({ scope: ['table:read', 'catalog:read', 'namespace:read'] });
    expect(errorOf(await post('presign', { ...through, files: [{ path: 'a' }] }, reader))).toEqual([403, 'FORBIDDEN']);
  });

  test('takes a file whole or not at all: one that is cut off leaves the earlier one', async () => {
    await put((await presign('cut')).url, 'earlier');
    const bytes = randomBytes(2 * MIB);
    const { url } = await presign('cut', { size: bytes.length });
    await new Promise<void>((resolve) => {
      const request = httpRequest(url, { method: 'PUT', headers: { 'content-length': bytes.length } });
      request.once('error', () => undefined).once('close', () => resolve());
      request.write(bytes.subarray(0, MIB), () => setTimeout(() => request.destroy(), 200));
    });
    await sleep(500);
    expect(await textOf(`${places.inbox}/cut`)).toBe('earlier');
    expect((await put(url, bytes)).status).toBe(200);
    expect(await files()).toEqual([['cut', bytes.length]]);
    await cluster.sql('REMOVE @cloud.s.inbox');
  });

  test('is not given to a principal without the right, nor for a file that is too large for one request', async () => {
    const reader = await cluster.token({ scope: ['table:read', 'catalog:read', 'namespace:read'] });
    const asked = { stage: 'cloud.s.inbox', files: [{ path: 'a' }] };
    expect(errorOf(await post('presign', asked, reader))).toEqual([403, 'FORBIDDEN']);
    expect((await post('presign', { ...asked, method: 'GET' }, reader)).status).toBe(200);
    const rival = await cluster.token({ tenant: 'rival', user: 'eve' });
    expect(errorOf(await post('presign', asked, rival))).toEqual([400, 'CATALOG_NOT_FOUND']);
    for (const [size, code] of [
      [6 * 2 ** 30, 'INVALID_REQUEST'],
      [2 ** 40, 'PAYLOAD_TOO_LARGE'],
    ] as const) {
      expect(errorOf(await post('presign', { ...asked, files: [{ path: 'a', size }] }))[1]).toBe(code);
    }
  });
});

describe('by an address for one file, nobody', () => {
  type Attack = {
    readonly method: 'GET' | 'PUT';
    /** Makes another request of the address. */
    readonly change: (sent: Sent) => Sent;
    readonly asked?: Asked;
  };
  const elsewhere =
    (path: () => string): Attack['change'] =>
    (sent) => ({
      ...sent,
      target: sent.target.replace(`${places.inbox}/own`, path()),
    });
  const sent =
    (more: Partial<Sent>): Attack['change'] =>
    (one) => ({ ...one, ...more });
  const query =
    (text: string): Attack['change'] =>
    (one) => ({ ...one, target: `${one.target}&${text}` });
  const headed =
    (headers: () => Readonly<Record<string, string>>): Attack['change'] =>
    (one) => ({
      ...one,
      headers: headers(),
    });

  const ATTACKS: Readonly<Record<string, Attack>> = {
    'reads another stage': { method: 'GET', change: elsewhere(() => `${places.beside}/secret`) },
    'reads another tenant': { method: 'GET', change: elsewhere(() => `${places.theirs}/secret`) },
    'climbs out of the stage': {
      method: 'GET',
      change: elsewhere(() => `${places.inbox}/../${places.beside.split('/').at(-1) ?? ''}/secret`),
    },
    'climbs out of the stage, escaped': {
      method: 'GET',
      change: elsewhere(() => `${places.inbox}/%2e%2e/${places.beside.split('/').at(-1) ?? ''}/secret`),
    },
    'reads another file of the stage': { method: 'GET', change: elsewhere(() => `${places.inbox}/other`) },
    'lists the stage': {
      method: 'GET',
      change: (one) => ({ ...one, target: one.target.replace(/\/[^?]*/, '/warehouse') }),
    },
    'writes by one that reads': { method: 'GET', change: sent({ method: 'PUT', body: 'evil' }) },
    'deletes by one that reads': { method: 'GET', change: sent({ method: 'DELETE' }) },
    'asks for the head by one that reads': { method: 'GET', change: sent({ method: 'HEAD' }) },
    'reads by one that writes': { method: 'PUT', change: sent({ method: 'GET' }) },
    'deletes by one that writes': { method: 'PUT', change: sent({ method: 'DELETE' }) },
    'writes into another stage': {
      method: 'PUT',
      change: (one) => ({ ...elsewhere(() => `${places.beside}/new`)(one), body: 'evil' }),
    },
    'writes into another tenant': {
      method: 'PUT',
      change: (one) => ({ ...elsewhere(() => `${places.theirs}/new`)(one), body: 'evil' }),
    },
    'begins an upload': { method: 'PUT', change: (one) => ({ ...query('uploads=')(one), method: 'POST' }) },
    'changes the rights': { method: 'PUT', change: query('acl=') },
    'writes more than the size': { method: 'PUT', asked: { size: 3 }, change: sent({ body: 'four' }) },
    'writes less than the size': { method: 'PUT', asked: { size: 3 }, change: sent({ body: 'no' }) },
    'lets it live longer': {
      method: 'PUT',
      change: (one) => ({
        ...one,
        body: 'evil',
        target: one.target.replace(/X-Amz-Expires=\d+/, 'X-Amz-Expires=600000'),
      }),
    },
    'goes without the token of the key': {
      method: 'PUT',
      change: (one) => ({ ...one, body: 'evil', target: one.target.replace(/X-Amz-Security-Token=[^&]*&/, '') }),
    },
    'copies from another stage': {
      method: 'PUT',
      change: headed(() => ({ 'x-amz-copy-source': `${places.beside}/secret` })),
    },
    'copies from another tenant': {
      method: 'PUT',
      change: headed(() => ({ 'x-amz-copy-source': `${places.theirs}/secret` })),
    },
  };

  test.each(Object.entries(ATTACKS))('%s', async (_name, { method, change, asked = {} }) => {
    await rootly({ method: 'PUT', target: `${places.inbox}/own`, body: 'own' });
    const { url } = await presign('own', { method, ...asked });
    const outcome = await sendRaw(minio.endpoint, change({ method, target: url.slice(minio.endpoint.length) }));
    expect(outcome.status, outcome.body).toBeGreaterThanOrEqual(400);
    expect(outcome.body).not.toContain('a secret');
    expect(await textOf(`${places.inbox}/own`)).toBe('own');
    for (const place of [places.beside, places.theirs]) {
      expect([await textOf(`${place}/secret`), await textOf(`${place}/new`)]).toEqual(['a secret', undefined]);
    }
  });

  test('comes late', async () => {
    const { url, 'expires-at-ms': end } = await presign('own', { expires_in: 1 });
    await sleep(end + 1_000 - Date.now());
    expect((await put(url, 'late')).status).toBe(403);
    expect(await textOf(`${places.inbox}/own`)).toBe('own');
    await cluster.sql('REMOVE @cloud.s.inbox');
  });
});

/** Begins an upload of parts. */
async function begin(path: string, more: object = {}): Promise<Begun> {
  const { status, body } = await post<Begun>('presign/multipart/init', { stage: 'cloud.s.inbox', path, ...more });
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}
const etagOf = async (answer: Promise<Response>): Promise<string> => {
  const { status, headers } = await answer;
  expect(status).toBe(200);
  return headers.get('etag') ?? '';
};

describe('an upload in parts', () => {
  const bytes = randomBytes(10 * MIB + 7);
  const part = (number: number): Buffer => bytes.subarray((number - 1) * 5 * MIB, number * 5 * MIB);
  const sendAll = (parts: Begun['parts']): Promise<{ part_number: number; etag: string }[]> =>
    Promise.all(
      parts.map(async ({ part_number, url }) => ({ part_number, etag: await etagOf(put(url, part(part_number))) })),
    );

  test('comes to the store, in any order and again, and is one file when it is completed', async () => {
    const { upload_id, parts } = await begin('big.bin', { size: bytes.length, part_size: 5 * MIB });
    expect(parts.map(({ url }) => url.startsWith(`${minio.endpoint}${places.inbox}/big.bin?`))).toEqual([
      true,
      true,
      true,
    ]);
    await put(parts[0]?.url ?? '', randomBytes(5 * MIB));
    const done = await sendAll(parts.toReversed());
    expect(await files()).toEqual([]);
    const of = { stage: 'cloud.s.inbox', path: 'big.bin', upload_id };
    const [one, two, three] = done.toReversed();
    const complete = (list: readonly unknown[]) => post('presign/multipart/complete', { ...of, parts: list });
    expect(errorOf(await complete([one, three, two]))).toEqual([400, 'INVALID_REQUEST']);
    expect(errorOf(await complete([one, two]))).toEqual([400, 'INVALID_REQUEST']);
    expect(errorOf(await complete([one, two, { ...three, etag: '"x"' }]))).toEqual([400, 'INVALID_REQUEST']);
    expect(await complete([one, two, three])).toMatchObject({
      status: 200,
      body: { path: 'big.bin', size: bytes.length },
    });
    expect(errorOf(await complete([one, two, three]))[1]).toBe('UPLOAD_NOT_FOUND');
    const got = await fetch((await presign('big.bin', { method: 'GET' })).url);
    expect(
      createHash('md5')
        .update(new Uint8Array(await got.arrayBuffer()))
        .digest('hex'),
    ).toBe(createHash('md5').update(bytes).digest('hex'));
    expect((await put(parts[0]?.url ?? '', part(1))).status).toBe(404);
    await cluster.sql('REMOVE @cloud.s.inbox');
  });

  test('whose completion was not answered is completed again', async () => {
    const { upload_id, parts } = await begin('lost.bin', { size: bytes.length, part_size: 5 * MIB });
    const done = await sendAll(parts);
    const { searchParams } = new URL(parts[0]?.url ?? '');
    const list = done.map(
      ({ part_number, etag }) => `<Part><PartNumber>${part_number}</PartNumber><ETag>${etag}</ETag></Part>`,
    );
    const body = `<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`;
    const target = `${places.inbox}/lost.bin?uploadId=${searchParams.get('uploadId') ?? ''}`;
    expect((await rootly({ method: 'POST', target, body })).status).toBe(200);
    const of = { stage: 'cloud.s.inbox', path: 'lost.bin', upload_id, parts: done };
    expect(await post('presign/multipart/complete', of)).toMatchObject({ status: 200, body: { size: bytes.length } });
    await cluster.sql('REMOVE @cloud.s.inbox');
  });

  test('has parts of 5 MiB at least but for the last, each of its length', async () => {
    const asked = { stage: 'cloud.s.inbox', path: 'small.bin' };
    for (const small of [{ size: 9 * MIB, part_size: 4 * MIB }, { part_size: MIB }]) {
      expect(errorOf(await post('presign/multipart/init', { ...asked, ...small }))).toEqual([400, 'INVALID_REQUEST']);
    }
    const { upload_id, parts } = await begin('small.bin', { size: 5, part_size: MIB });
    expect(parts).toHaveLength(1);
    expect((await put(parts[0]?.url ?? '', 'abcdef')).status).toBe(403);
    const etag = await etagOf(put(parts[0]?.url ?? '', 'abcde'));
    const list = [{ part_number: 1, etag }];
    expect((await post('presign/multipart/complete', { ...asked, upload_id, parts: list })).status).toBe(200);
    const unknown = await begin('unknown.bin', { part_size: 5 * MIB });
    expect(unknown.parts).toHaveLength(100);
    const etags = [
      await etagOf(put(unknown.parts[0]?.url ?? '', 'short')),
      await etagOf(put(unknown.parts[1]?.url ?? '', 'x')),
    ];
    const sent = etags.map((one, i) => ({ part_number: i + 1, etag: one }));
    const of = { stage: 'cloud.s.inbox', path: 'unknown.bin', upload_id: unknown.upload_id };
    expect(errorOf(await post('presign/multipart/complete', { ...of, parts: sent }))).toEqual([400, 'INVALID_REQUEST']);
    expect((await post('presign/multipart/complete', { ...of, parts: sent.slice(0, 1) })).status).toBe(200);
    expect(await files()).toEqual([
      ['small.bin', 5],
      ['unknown.bin', 5],
    ]);
    await cluster.sql('REMOVE @cloud.s.inbox');
  });

  test('has such parts, too, where the coordinator carries them to the store', async () => {
    const of = { stage: 'plain.s.t', path: 'carried.bin' };
    for (const small of [{ size: 9 * MIB, part_size: 4 * MIB }, { part_size: MIB }]) {
      expect(errorOf(await post('presign/multipart/init', { ...of, ...small }))).toEqual([400, 'INVALID_REQUEST']);
    }
    const { upload_id, parts } = await begin(of.path, { stage: of.stage, part_size: 5 * MIB });
    const [one, two] = [parts[0]?.url ?? '', parts[1]?.url ?? ''];
    expect([one, two].filter((url) => !url.startsWith(`${cluster.queryUrl}/v1/stages/files/`))).toEqual([]);
    const complete = (etags: readonly string[]): Promise<Answer<unknown>> =>
      post('presign/multipart/complete', {
        ...of,
        upload_id,
        parts: etags.map((etag, i) => ({ part_number: i + 1, etag })),
      });
    const last = await etagOf(put(two, 'the end'));
    expect(errorOf(await complete([await etagOf(put(one, randomBytes(MIB))), last]))).toEqual([400, 'INVALID_REQUEST']);
    expect((await complete([await etagOf(put(one, randomBytes(5 * MIB))), last])).status).toBe(200);
    expect((await cluster.sql('LIST @plain.s.t')).map(([name, size]) => [name, size])).toContainEqual([
      of.path,
      5 * MIB + 7,
    ]);
  });

  test('opens nothing else: another number, another upload, another stage', async () => {
    const mine = await begin('mine.bin', { size: 5 });
    const other = await begin('other.bin', { size: 5 });
    const [url = ''] = mine.parts.map((one) => one.url);
    const idOf = (begun: Begun): string => new URL(begun.parts[0]?.url ?? '').searchParams.get('uploadId') ?? '';
    for (const changed of [
      url.replace('partNumber=1', 'partNumber=2'),
      url.replace('mine.bin', 'other.bin').replace(encodeURIComponent(idOf(mine)), encodeURIComponent(idOf(other))),
      url.replace(places.inbox, places.beside),
    ]) {
      expect((await put(changed, 'abcde')).status).toBe(403);
    }
    const copied = await sendRaw(minio.endpoint, {
      method: 'PUT',
      target: url.slice(minio.endpoint.length),
      headers: { 'x-amz-copy-source': `${places.beside}/secret` },
    });
    expect(copied.status).toBe(403);
    for (const { upload_id } of [mine, other]) {
      const wrong = { stage: 'cloud.s.beside', path: 'mine.bin', upload_id };
      expect(errorOf(await post('presign/multipart/abort', wrong))[1]).toBe('INVALID_REQUEST');
    }
  });

  test('that is aborted, or that nobody completes in time, leaves nothing at the store', async () => {
    const aborted = await begin('aborted.bin', { size: bytes.length, part_size: 5 * MIB });
    await sendAll(aborted.parts);
    expect(await uploadsOf(`${places.inbox}/aborted.bin`)).toHaveLength(1);
    const of = { stage: 'cloud.s.inbox', path: 'aborted.bin', upload_id: aborted.upload_id };
    expect((await post('presign/multipart/abort', of)).status).toBe(204);
    expect(await uploadsOf(`${places.inbox}/aborted.bin`)).toEqual([]);
    await cluster.sql("CREATE STAGE cloud.s.brief WITH ('upload_ttl' = '4s')");
    const place = await placeOf('cloud.s.brief');
    const begun = await begin('dead.bin', { stage: 'cloud.s.brief', size: bytes.length, part_size: 5 * MIB });
    expect(begun['expires-at-ms']).toBeLessThan(Date.now() + 4_000);
    await etagOf(put(begun.parts[0]?.url ?? '', part(1)));
    // One whose id nobody has kept.
    const { body } = await rootly({ method: 'POST', target: `${place}/dead.bin?uploads` });
    expect(body).toContain('UploadId');
    expect(await uploadsOf(`${place}/dead.bin`)).toHaveLength(2);
    await expect.poll(() => uploadsOf(`${place}/dead.bin`), { timeout: patience(15_000) }).toHaveLength(1);
    expect(await cluster.sql('LIST @cloud.s.brief')).toEqual([]);
  });

  test('whose addresses have ended gets others', async () => {
    const { upload_id, parts } = await begin('renewed.bin', { size: 5, expires_in: 1 });
    await expect
      .poll(async () => (await put(parts[0]?.url ?? '', 'abcde')).status, { timeout: patience(5_000) })
      .toBe(403);
    const { url } = await presign('renewed.bin', { upload_id, part_number: 1, size: 5 });
    const etag = await etagOf(put(url, 'abcde'));
    const list = [{ part_number: 1, etag }];
    const of = { stage: 'cloud.s.inbox', path: 'renewed.bin', upload_id, parts: list };
    expect((await post('presign/multipart/complete', of)).status).toBe(200);
    const wrong = { stage: 'cloud.s.inbox', files: [{ path: 'other.bin', upload_id, part_number: 1 }] };
    expect(errorOf(await post('presign', wrong))[1]).toBe('UPLOAD_NOT_FOUND');
    await cluster.sql('REMOVE @cloud.s.inbox');
  });
});

test('a dropped stage takes its files with it, also one that comes later by an address of before', async () => {
  await cluster.sql('CREATE STAGE cloud.s.doomed');
  const place = await placeOf('cloud.s.doomed');
  const { url } = await presign('a/b.txt', { stage: 'cloud.s.doomed' });
  expect((await put(url, 'x')).status).toBe(200);
  await cluster.sql('DROP STAGE cloud.s.doomed');
  await expect.poll(() => textOf(`${place}/a/b.txt`), { timeout: patience(15_000) }).toBeUndefined();
  expect((await put(url, 'y')).status).toBe(200);
  await expect.poll(() => textOf(`${place}/a/b.txt`), { timeout: patience(15_000) }).toBeUndefined();
});

test('skein put and get follow the addresses, with small files and files in parts', async () => {
  const [small, large] = [randomBytes(1_000), randomBytes(65 * MIB)];
  await writeFile(join(folder, 'small ä.bin'), small);
  await writeFile(join(folder, 'large.bin'), large);
  await cluster.cliOk(['put', join(folder, 'small ä.bin'), join(folder, 'large.bin'), '@cloud.s.inbox/cli/']);
  expect(await files()).toEqual([
    ['cli/large.bin', large.length],
    ['cli/small ä.bin', small.length],
  ]);
  expect(await uploadsOf(`${places.inbox}/cli/large.bin`)).toEqual([]);
  await cluster.cliOk(['get', '@cloud.s.inbox/cli', join(folder, 'got')]);
  expect(small.equals(await readFile(join(folder, 'got/small ä.bin')))).toBe(true);
  expect(large.equals(await readFile(join(folder, 'got/large.bin')))).toBe(true);
});

test('a page of the console uploads through the coordinator, and goes on after its connection was lost', async () => {
  await buildConsole();
  const browser = await startChromium();
  try {
    const { page } = await openConsole(cluster, browser, { path: '/console/catalog/cloud/s/inbox?tab=Stage' });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    let cuts = 2;
    await page.route('**/v1/stages/**', async (route) => {
      if (route.request().method() !== 'PUT' || cuts === 0) return route.continue();
      cuts -= 1;
      await route.abort('connectionreset');
    });
    const bytes = randomBytes(20 * MIB);
    const name = `it's "x" 😀.bin`;
    await page
      .getByLabel('Drop files here, or choose them')
      .setInputFiles({ name, mimeType: 'application/octet-stream', buffer: bytes });
    await page.getByText(`${name} is there`).waitFor();
    expect(cuts).toBe(0);
    await cluster.cliOk(['get', `@cloud.s.inbox/${name}`, join(folder, 'uploaded')]);
    expect(bytes.equals(await readFile(join(folder, 'uploaded', name)))).toBe(true);
    expect(await uploadsOf(`${places.inbox}/${name}`)).toEqual([]);
    // The page knows neither the store nor an address that is good there.
    expect(asked.filter((url) => new URL(url).origin !== cluster.queryUrl)).toEqual([]);
    expect(asked.join(' ')).not.toMatch(/X-Amz-Signature/i);
    await page.context().close();
  } finally {
    await browser.close();
  }
});
