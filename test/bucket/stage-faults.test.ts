import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { settingsEnv, type StartedCluster } from '#test/support/cluster.ts';
import { startFaultyCluster, type FaultyCluster } from '#test/support/faulty-cluster.ts';
import { OTHER_STORE_MS } from '#test/support/other-stores.ts';
import type { StoreProxy } from '#test/support/store-proxy.ts';
import { patience } from '#test/support/run/slowness.ts';

/**
 * Files of stages over a store with faults, by addresses of the store and by statements: a file whose upload was answered is there, byte for byte;
 * one whose upload failed is there whole, or not at all.
 */

let faulty: FaultyCluster;
let proxy: StoreProxy;
let cluster: StartedCluster;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-stage-faults-'));
  faulty = await startFaultyCluster({
    seed: 11,
    env: settingsEnv({ 'catalog.background_interval': '200ms', 'worker.disk_cache_size': '0' }),
  });
  ({ proxy, cluster } = faulty);
  await cluster.sql('CREATE SCHEMA cloud.f');
  await cluster.sql("CREATE STAGE cloud.f.box WITH ('upload_ttl' = '2m')");
}, OTHER_STORE_MS);

afterEach(async () => {
  proxy?.set({});
  await proxy?.openPort();
});

afterAll(async () => {
  await faulty?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

type Json = Readonly<Record<string, unknown>>;
type SignedUrl = { readonly url: string; readonly headers?: Readonly<Record<string, string>> };

/** Bytes of a part. */
const PART = 5 * 2 ** 20;
/** Bytes of a file that Skein itself sends in parts. */
const LARGE = 20 * 2 ** 20;
const TIMES_MAX = 5;
const ANSWER_MS = 120_000;

/** Sends a request, and again while it may pass. @returns the last answer; its status is 0 when none came */
async function send(url: string, init: RequestInit): Promise<{ readonly status: number; readonly body: Buffer }> {
  for (let times = 1; ; times++) {
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_MS) })
      .then(async (response) => ({
        status: response.status,
        body: Buffer.from(await response.arrayBuffer()),
      }))
      .catch((error: Error) => {
        expect(error.name, `${init.method} ${url} hangs`).not.toBe('TimeoutError');
        return { status: 0, body: Buffer.alloc(0) };
      });
    const mayPass = answer.status === 0 || answer.status >= 500;
    if (!mayPass || times === TIMES_MAX) return answer;
    await sleep(200 * 2 ** times);
  }
}

/** A request to the coordinator. @returns undefined when it failed, which it says by an SQLSTATE */
async function post(path: string, body: Json): Promise<Json | undefined> {
  const answer = await send(`${cluster.queryUrl}/v1/stages/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await cluster.token()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ stage: 'cloud.f.box', ...body }),
  });
  const text = answer.body.toString();
  const json = (text === '' ? {} : JSON.parse(text)) as Json;
  if (answer.status < 300) return json;
  expect(json['sql_state'], text).toMatch(/^[0-9A-Z]{5}$/);
  return undefined;
}

const put = async ({ url, headers = {} }: SignedUrl, body: Buffer): Promise<boolean> =>
  (await send(url, { method: 'PUT', headers, body: new Uint8Array(body) })).status in { 200: 0, 201: 0, 204: 0 };

/** @returns whether it was answered that the file is there */
async function putWhole(path: string, bytes: Buffer): Promise<boolean> {
  const answer = await post('presign', { files: [{ path }], method: 'PUT' });
  const [url] = (answer?.['urls'] ?? []) as readonly SignedUrl[];
  return url !== undefined && put(url, bytes);
}

async function putParts(path: string, bytes: Buffer): Promise<boolean> {
  const begun = await post('presign/multipart/init', { path, size: bytes.length, part_size: PART });
  if (begun === undefined) return false;
  const named = { path, upload_id: begun['upload_id'] };
  const sent = await Promise.all(
    (begun['parts'] as readonly SignedUrl[]).map(async ({ url }, i) => {
      const part = bytes.subarray(i * PART, (i + 1) * PART);
      const etag = createHash('md5').update(part).digest('hex');
      return { isSent: await put({ url }, part), part_number: i + 1, etag };
    }),
  );
  if (sent.every(({ isSent }) => isSent)) {
    const parts = sent.map(({ part_number, etag }) => ({ part_number, etag }));
    if ((await post('presign/multipart/complete', { ...named, parts })) !== undefined) return true;
  }
  await post('presign/multipart/abort', named);
  return false;
}

type Upload = { readonly path: string; readonly bytes: Buffer; readonly isThere: boolean };

/** Files of one request and of parts, in turns. */
async function upload(name: string, count: number): Promise<readonly Upload[]> {
  const uploads: Upload[] = [];
  for (let i = 0; i < count; i++) {
    const path = `${name}/${i}.bin`;
    const bytes = randomBytes(i % 2 === 0 ? 1 + i * 20_000 : 2 * PART + 1 + i);
    uploads.push({ path, bytes, isThere: await (i % 2 === 0 ? putWhole : putParts)(path, bytes) });
  }
  return uploads;
}

/** Files whose upload was answered are there, and no file is there in part. */
async function requireWhole(name: string, uploads: readonly Upload[]): Promise<void> {
  proxy.set({});
  await proxy.openPort();
  const listed = new Map((await cluster.sql(`LIST @cloud.f.box/${name}`)).map(([path, size]) => [path, size]));
  for (const { path, bytes, isThere } of uploads) {
    if (isThere) expect(listed.get(path), path).toBe(bytes.length);
    if (!listed.has(path)) continue;
    const answer = await post('presign', { files: [{ path }], method: 'GET' });
    const [url] = (answer?.['urls'] ?? []) as readonly SignedUrl[];
    expect(bytes.equals((await send(url?.url ?? '', { method: 'GET' })).body), path).toBe(true);
    listed.delete(path);
  }
  expect([...listed.keys()].filter((path) => !uploads.some((one) => one.path === path))).toEqual([]);
}

/** Nothing of an upload that has ended stays. */
async function requireNothingHalf(): Promise<void> {
  const left = async (): Promise<readonly string[]> =>
    (await faulty.objects()).filter((one) => one.includes('.uploads'));
  await expect.poll(left, { timeout: patience(150_000), interval: 500 }).toEqual([]);
  await expect.poll(faulty.store.openUploads, { timeout: patience(150_000), interval: 500 }).toBe(0);
}

test.runIf(process.env['TEST_BUCKET_STORE'] !== 'adls')(
  'an upload that was begun twice, as the answer was lost, leaves none',
  async () => {
    await cluster.sql("CREATE STAGE cloud.f.brief WITH ('upload_ttl' = '5s')");
    proxy.set({ lost: /^POST \/warehouse\/.*[?&]uploads=/ });
    const bytes = randomBytes(PART);
    const named = { stage: 'cloud.f.brief', path: 'twice.bin' };
    const begun = await post('presign/multipart/init', { ...named, size: PART, part_size: PART });
    expect(await faulty.store.openUploads()).toBe(2);
    const [part] = (begun?.['parts'] ?? []) as readonly SignedUrl[];
    expect(await put({ url: part?.url ?? '' }, bytes)).toBe(true);
    const parts = [{ part_number: 1, etag: createHash('md5').update(bytes).digest('hex') }];
    expect(
      await post('presign/multipart/complete', { ...named, upload_id: begun?.['upload_id'], parts }),
    ).toBeDefined();
    await expect.poll(faulty.store.openUploads, { timeout: patience(30_000), interval: 200 }).toBe(0);
    expect((await cluster.sql('LIST @cloud.f.brief')).map(([path, size]) => [path, size])).toEqual([
      ['twice.bin', PART],
    ]);
  },
  200_000,
);

test.runIf((process.env['TEST_BUCKET_STORE'] ?? '') === '')(
  'so does one of a part that comes through the coordinator, and one of a file of a table',
  async () => {
    await cluster.sql("CREATE STAGE cloud.f.carried WITH ('upload_ttl' = '5s')");
    const bytes = randomBytes(LARGE);
    const named = { stage: 'cloud.f.carried', path: 'carried.bin', through: 'coordinator' };
    const begun = await post('presign/multipart/init', { ...named, size: LARGE, part_size: LARGE });
    const [part] = (begun?.['parts'] ?? []) as readonly SignedUrl[];
    proxy.set({ lost: /^POST \/warehouse\/.*coming-.*[?&]uploads=/ });
    expect(await put({ url: part?.url ?? '' }, bytes)).toBe(true);
    expect(await faulty.store.openUploads()).toBe(1);
    await expect.poll(faulty.store.openUploads, { timeout: patience(30_000), interval: 200 }).toBe(0);
    proxy.set({ lost: /^POST \/warehouse\/.*\.parquet[?&]uploads=/ });
    await cluster.sql('CREATE TABLE cloud.f.wide AS SELECT i, uuid()::VARCHAR AS u FROM range(1_500_000) AS r(i)');
    expect(proxy.takeCounts().faults).toBeGreaterThan(0);
    await expect.poll(faulty.store.openUploads, { timeout: patience(30_000), interval: 200 }).toBe(0);
    expect(await cluster.sql('SELECT count(*) FROM cloud.f.wide')).toEqual([[1_500_000]]);
  },
  200_000,
);

test('with one request in ten refused and one answer in ten cut, files come whole, of one request and of parts', async () => {
  proxy.takeCounts();
  proxy.set({ refused: 0.1, cut: 0.1 });
  const uploads = await upload('cut', 20);
  expect(uploads.filter(({ isThere }) => isThere).length).toBeGreaterThanOrEqual(18);
  expect(proxy.takeCounts().faults).toBeGreaterThan(10);
  await requireWhole('cut', uploads);
}, 600_000);

test.each(['the port is closed', 'the store is killed'])(
  '%s for five seconds amid uploads: what is answered is there, and nothing else but what is whole',
  async (how) => {
    const isPort = how === 'the port is closed';
    const name = isPort ? 'closed' : 'killed';
    proxy.set({ bytesPerSecond: 20e6 });
    const away = (async (): Promise<void> => {
      await sleep(700);
      await (isPort ? proxy.closePort() : faulty.store.kill());
      await sleep(5_000);
      await (isPort ? proxy.openPort() : faulty.store.start());
    })();
    const uploads = await upload(name, 8);
    await away;
    await requireWhole(name, uploads);
    expect((await upload(`${name}-again`, 2)).every(({ isThere }) => isThere)).toBe(true);
  },
  600_000,
);

const SUMS = 'count(*), sum(i), count(DISTINCT t)';
const PARQUET = '(FILE_FORMAT => (TYPE = PARQUET))';

test('COPY INTO a stage, and from it, is whole or leaves nothing', async () => {
  const rows = 50_000;
  const whole = [[rows, String((rows * (rows - 1)) / 2), rows]];
  let well = 0;
  for (let i = 0; i < 10; i++) {
    const at = `@cloud.f.box/unloaded/${i}`;
    const away = i % 3 === 2 ? goAway() : undefined;
    if (away === undefined) proxy.set({ refused: 0.1, cut: 0.1 });
    const written = await cluster.query(
      `COPY INTO ${at}/part FROM (SELECT r.i, hash(r.i)::VARCHAR AS t FROM range(${rows}) AS r(i)) FILE_FORMAT = (TYPE = PARQUET)`,
      { timeoutMs: ANSWER_MS },
    );
    await away;
    proxy.set({});
    if (written.status !== 200) {
      expect(written.body.sql_state, String(written.body.message)).toMatch(/^[0-9A-Z]{5}$/);
      // It says that the files get their names as soon as the store takes them.
      const left = written.body.error === 'COMMIT_STATE_UNKNOWN' ? 1 : 0;
      const listed = async (): Promise<number> => (await cluster.sql(`LIST ${at}`)).length;
      await expect.poll(listed, { message: String(written.body.error), timeout: patience(30_000) }).toBe(left);
      if (left === 1) expect(await cluster.sql(`SELECT ${SUMS} FROM ${at} ${PARQUET}`)).toEqual(whole);
      continue;
    }
    well += 1;
    proxy.set({ refused: 0.05, cut: 0.05 });
    await cluster.sql(`CREATE TABLE cloud.f.copied${i} (i BIGINT, t VARCHAR)`);
    const copied = await cluster.query(`COPY INTO cloud.f.copied${i} FROM ${at} FILE_FORMAT = (TYPE = PARQUET)`, {
      timeoutMs: ANSWER_MS,
    });
    proxy.set({});
    expect(await cluster.sql(`SELECT ${SUMS} FROM ${at} ${PARQUET}`)).toEqual(whole);
    const found = await cluster.sql(`SELECT ${SUMS} FROM cloud.f.copied${i}`);
    expect(found).toEqual(copied.status === 200 || found[0]?.[0] !== 0 ? whole : [[0, null, 0]]);
  }
  expect(well).toBeGreaterThanOrEqual(7);
}, 900_000);

async function goAway(): Promise<void> {
  await sleep(100);
  await proxy.closePort();
  await sleep(5_000);
  await proxy.openPort();
}

test('skein put and get go on over a store with faults, with a file in parts, too', async () => {
  const [small, large] = [randomBytes(100_000), randomBytes(65 * 2 ** 20)];
  await writeFile(join(folder, 'small.bin'), small);
  await writeFile(join(folder, 'large.bin'), large);
  proxy.set({ refused: 0.05, cut: 0.05 });
  const from = [join(folder, 'small.bin'), join(folder, 'large.bin')];
  await cluster.cliOk(['put', ...from, '@cloud.f.box/cli/'], faulty.store.env);
  await cluster.cliOk(['get', '@cloud.f.box/cli', join(folder, 'got')], faulty.store.env);
  expect(small.equals(await readFile(join(folder, 'got/small.bin')))).toBe(true);
  expect(large.equals(await readFile(join(folder, 'got/large.bin')))).toBe(true);
}, 300_000);

test('nothing of any of these uploads is left when their time is over', requireNothingHalf, 400_000);
