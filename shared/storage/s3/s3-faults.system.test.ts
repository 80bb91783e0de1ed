import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { storeKeyId, type S3Credential, type StoreCredential } from '#shared/storage/credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { MINIO_BUILD_MS, startMinio, type Minio } from '#test/support/minio.ts';
import { startStoreProxy, type StoreProxy } from '#test/support/store-proxy.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

let minio: Minio;
let proxy: StoreProxy;
let key: S3Credential;
let storage: Storage;

const at = (name: string): string => `s3://warehouse/${name}`;

beforeAll(async () => {
  minio = await startMinio();
  await minio.makeBucket('warehouse');
  proxy = await startStoreProxy(minio.endpoint);
  key = { ...minio.key, endpoint: proxy.endpoint };
}, MINIO_BUILD_MS);

beforeEach(() => {
  proxy.set({});
  storage = openStorage(at(''), key);
});

afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]();
  await minio?.[Symbol.asyncDispose]();
});

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let begin = 0; begin < bytes.length; begin += size)
    yield await Promise.resolve(bytes.subarray(begin, begin + size));
}

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

test('with one request in ten refused and one answer in ten cut, what is written is what is read', async () => {
  proxy.set({ refused: 0.1, cut: 0.1 });
  for (let i = 0; i < 40; i++) {
    const bytes = randomBytes(1 + i * 5_000);
    await storage.write(at(`cut/${i}`), bytes);
    expect(digest(await storage.read(at(`cut/${i}`), bytes.length))).toBe(digest(bytes));
    await using file = await storage.openFile(at(`cut/${i}`), 1_000);
    expect(digest(await file.read(0, bytes.length))).toBe(digest(bytes));
  }
  const large = randomBytes(40 * 2 ** 20);
  await storage.writeStream(at('cut/large'), inChunks(large, 2 ** 20));
  expect(digest(await storage.read(at('cut/large'), large.length))).toBe(digest(large));
  const listed: string[] = [];
  for await (const page of storage.list(at('cut'))) listed.push(...page);
  expect(listed).toHaveLength(41);
  await storage.remove(listed);
  expect(proxy.takeCounts().faults).toBeGreaterThan(20);
});

test('a byte that is another one is asked for again', async () => {
  const bytes = randomBytes(50_000);
  await storage.write(at('altered'), bytes);
  proxy.set({ altered: 0.5 });
  for (let i = 0; i < 20; i++) expect(digest(await storage.read(at('altered'), 50_000))).toBe(digest(bytes));
  proxy.set({ altered: 1 });
  await expect(storage.read(at('altered'), 50_000)).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
});

/** As a writer tells them. */
const CHECKSUMS = { crc: 0x1234abcd, segments: [1, 0xffffffff, 0] };

test('the checksum of the writer comes with every range, also of an object of parts', async () => {
  const bytes = randomBytes(20 * 2 ** 20);
  await storage.writeStream(at('parts'), inChunks(bytes, 2 ** 20), CHECKSUMS);
  await using file = await storage.openFile(at('parts'), 10);
  expect(file.checksums).toEqual(CHECKSUMS);
  await storage.place(at('parts'), at('placed'));
  await using placed = await storage.openFile(at('placed'), 10);
  expect(placed.checksums).toEqual(CHECKSUMS);
});

test('a store that is away for some seconds costs time', async () => {
  await storage.write(at('away'), Buffer.from('there'));
  await proxy.closePort();
  const read = storage.read(at('away'), 10);
  setTimeout(() => void proxy.openPort(), 3_000);
  expect(String(await read)).toBe('there');
});

test('a store that refuses everything ends a statement long before each of its requests has been tried often', async () => {
  proxy.set({ refused: 1 });
  proxy.takeCounts();
  const begunMs = performance.now();
  const reads = Array.from({ length: 100 }, (_, i) => storage.read(at(`refused/${i}`), 10));
  const results = await Promise.allSettled(reads);
  expect(results.every(({ status }) => status === 'rejected')).toBe(true);
  // The budget of all, and the first time of each.
  expect(proxy.takeCounts().requests).toBeLessThanOrEqual(300);
  expect(performance.now() - begunMs).toBeLessThan(20_000 * machineSlowness());
});

test('a request ends with its statement', async () => {
  proxy.set({ delayMs: 30_000 });
  const abort = new AbortController();
  const read = openStorage(at(''), key, { signal: abort.signal }).read(at('altered'), 10);
  setTimeout(() => abort.abort(new Error('cancelled')), 100);
  const begunMs = performance.now();
  await expect(read).rejects.toThrow();
  expect(performance.now() - begunMs).toBeLessThan(2_000 * machineSlowness());
});

test('a key that has ended or that the store does not know is renewed once, and what it reads is right', async () => {
  await storage.write(at('renewed'), Buffer.from('text'));
  const asked: string[] = [];
  const renew = (old: StoreCredential): Promise<StoreCredential> => {
    asked.push(storeKeyId(old));
    return Promise.resolve(key);
  };
  const unknown = { ...key, accessKeyId: 'unknown-key' };
  expect(String(await openStorage(at(''), unknown, { renew }).read(at('renewed'), 10))).toBe('text');
  expect(await openStorage(at(''), unknown, { renew }).exists(at('renewed'))).toBe(true);
  const ending = { ...key, accessKeyId: 'ending-key', expiresAtMs: Date.now() + 1_000 };
  expect(String(await openStorage(at(''), ending, { renew }).read(at('renewed'), 10))).toBe('text');
  expect(asked).toEqual(['unknown-key', 'unknown-key', 'ending-key']);
  const hopeless = openStorage(at(''), unknown, { renew: () => Promise.resolve(unknown) });
  await expect(hopeless.read(at('renewed'), 10)).rejects.toMatchObject({
    message: expect.stringContaining('InvalidAccessKeyId') as string,
  });
});
