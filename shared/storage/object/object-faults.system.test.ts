import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { StoreCredential } from '#shared/storage/credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { OTHER_STORE_MS, OTHER_STORES, type OtherStore } from '#test/support/other-stores.ts';
import { startStoreProxy, type StoreProxy } from '#test/support/store-proxy.ts';
import { patience } from '#test/support/run/slowness.ts';

/** The laws of `s3-faults.system.test.ts`, over the other stores. */

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let begin = 0; begin < bytes.length; begin += size)
    yield await Promise.resolve(bytes.subarray(begin, begin + size));
}

describe.each(Object.keys(OTHER_STORES) as (keyof typeof OTHER_STORES)[])('in a store of %s', (kind) => {
  let store: OtherStore;
  let proxy: StoreProxy;
  let key: StoreCredential;
  let storage: Storage;
  const at = (name: string): string => `${store.root}/${name}`;

  beforeAll(async () => {
    store = await OTHER_STORES[kind]();
    proxy = await startStoreProxy(must(store.credential.endpoint, 'an emulator has an address'));
    key = { ...store.credential, endpoint: proxy.endpoint };
  }, OTHER_STORE_MS);
  beforeEach(() => {
    proxy.set({});
    storage = openStorage(at(''), key);
  });
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await store?.[Symbol.asyncDispose]();
  });

  test('with one request in ten refused and one answer in ten cut, what is written is what is read', async () => {
    proxy.set({ refused: 0.1, cut: 0.1 });
    proxy.takeCounts();
    for (let i = 0; i < 25; i++) {
      const bytes = randomBytes(1 + i * 5_000);
      await storage.write(at(`cut/${i}`), bytes);
      expect(bytes.equals(await storage.read(at(`cut/${i}`), bytes.length))).toBe(true);
      await using file = await storage.openFile(at(`cut/${i}`), 1_000);
      expect(bytes.equals(await file.read(0, bytes.length))).toBe(true);
    }
    const large = randomBytes(33 * 2 ** 20);
    await storage.writeStream(at('cut/large'), inChunks(large, 2 ** 20));
    expect(large.equals(await storage.read(at('cut/large'), large.length))).toBe(true);
    const listed = (await Array.fromAsync(storage.list(at('cut')))).flat();
    expect(listed).toHaveLength(26);
    await storage.remove(listed);
    expect(proxy.takeCounts().faults).toBeGreaterThan(10);
  });

  test('an upload that breaks leaves no part at the store, also where an answer of its end is lost', async () => {
    const before = await store.openUploads();
    async function* breaking(): AsyncGenerator<Buffer> {
      yield* inChunks(randomBytes(40 * 2 ** 20), 2 ** 20);
      throw new Error('broken');
    }
    for (const lost of [undefined, /^PUT .*comp=blocklist/, /^DELETE /]) {
      proxy.set(lost === undefined ? {} : { lost });
      await expect(storage.writeStream(at('broken/large'), breaking())).rejects.toThrow('broken');
      expect([lost, await store.openUploads()]).toEqual([lost, before]);
      expect(await Array.fromAsync(storage.list(at('broken')))).toEqual([[]]);
    }
  });

  test.runIf(kind === 'adls')(
    'what a writer has left that died is found by its name, and ends; nothing else does',
    async () => {
      const [name, other] = ['0c3e5c9a-9a53-4a6f-8f66-2f1d4a1f0001', '0c3e5c9a-9a53-4a6f-8f66-2f1d4a1f0002'];
      const never = async function* (): AsyncGenerator<Buffer> {
        yield* inChunks(randomBytes(20 * 2 ** 20), 2 ** 20);
        await Promise.withResolvers<void>().promise;
      };
      for (const one of [name, other]) void storage.writeStream(at(`left/${one}/large`), never());
      await expect.poll(() => store.openUploads(), { timeout: patience(30_000) }).toBe(2);
      await storage.write(at(`left/${name}/empty`), Buffer.alloc(0));
      expect(await storage.abortUploads(at('left'), name)).toBe(1);
      expect(await store.openUploads()).toBe(1);
      expect(await Array.fromAsync(storage.list(at('left')))).toEqual([[at(`left/${name}/empty`)]]);
      expect(await storage.abortUploads(at('left'), other)).toBe(1);
      expect(await store.openUploads()).toBe(0);
    },
  );

  test('a byte that is another one is asked for again', async () => {
    const bytes = randomBytes(50_000);
    await storage.write(at('altered'), bytes);
    proxy.set({ altered: 0.5 });
    for (let i = 0; i < 10; i++) expect(bytes.equals(await storage.read(at('altered'), 50_000))).toBe(true);
    proxy.set({ altered: 1 });
    await expect(storage.read(at('altered'), 50_000)).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
  });

  test('a store that is away for some seconds costs time, and one that refuses everything ends a statement soon', async () => {
    await storage.write(at('away'), Buffer.from('there'));
    await proxy.closePort();
    const read = storage.read(at('away'), 10);
    setTimeout(() => void proxy.openPort(), 2_000);
    expect(String(await read)).toBe('there');
    proxy.set({ refused: 1 });
    proxy.takeCounts();
    const reads = Array.from({ length: 100 }, (_, i) => storage.read(at(`refused/${i}`), 10));
    const results = await Promise.allSettled(reads);
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    // The budget of all, and the first time of each.
    expect(proxy.takeCounts().requests).toBeLessThanOrEqual(300);
  });

  test('a key that the store refuses, or that ends soon, is renewed once, and what it reads is right', async () => {
    await storage.write(at('renewed'), Buffer.from('text'));
    let asked = 0;
    const renew = (): Promise<StoreCredential> => {
      asked += 1;
      return Promise.resolve(key);
    };
    const refused =
      key.kind === 'gcs'
        ? { ...key, token: 'ya29.nobody-knows-it' }
        : key.kind === 'adls'
          ? { ...key, sas: key.sas.replace(/se=[^&]*/, 'se=2020-01-01T00%3A00%3A00Z') }
          : key;
    expect(String(await openStorage(at(''), refused, { renew }).read(at('renewed'), 10))).toBe('text');
    expect(await openStorage(at(''), refused, { renew }).exists(at('renewed'))).toBe(true);
    const ending = { ...refused, expiresAtMs: Date.now() + 1_000 };
    expect(String(await openStorage(at(''), ending, { renew }).read(at('renewed'), 10))).toBe('text');
    expect(asked).toBe(3);
    const hopeless = openStorage(at(''), refused, { renew: () => Promise.resolve(refused) });
    await expect(hopeless.read(at('renewed'), 10)).rejects.toMatchObject({
      message: expect.stringMatching(/: 40[13] /) as string,
    });
  });
});
