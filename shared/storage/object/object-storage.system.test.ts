import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StoreCredential } from '#shared/storage/credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { FileNotFound, FileReplaced, FileTooLarge, type Storage } from '#shared/storage/storage.ts';
import { AZURITE_ACCOUNT, startAzurite } from '#test/support/azurite.ts';
import { GCS_BUILD_MS } from '#test/support/fake-gcs.ts';
import { NPM_INSTALL_MS } from '#test/support/npm-folder.ts';
import { startGoogle } from '#test/support/google.ts';

/** The laws of `s3-storage.system.test.ts`, over the other stores. */

type Started = AsyncDisposable & { readonly credential: StoreCredential; readonly root: string };

const STORES: Readonly<Record<string, () => Promise<Started>>> = {
  'Google Cloud Storage': async () => {
    const google = await startGoogle();
    const { token, endpoint } = google;
    return {
      root: 'gs://warehouse',
      credential: { kind: 'gcs', token, endpoint, expiresAtMs: null },
      [Symbol.asyncDispose]: () => google[Symbol.asyncDispose](),
    };
  },
  'Azure storage': async () => {
    const azurite = await startAzurite();
    return {
      root: `abfss://warehouse@${AZURITE_ACCOUNT}.dfs.core.windows.net`,
      credential: azurite.credential('warehouse'),
      [Symbol.asyncDispose]: () => azurite[Symbol.asyncDispose](),
    };
  },
};

const collected = async <T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> => {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
};

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let begin = 0; begin < bytes.length; begin += size)
    yield await Promise.resolve(bytes.subarray(begin, begin + size));
}

describe.each(Object.entries(STORES))('%s', (_name, start) => {
  let started: Started;
  let storage: Storage;
  const at = (key: string): string => `${started.root}/${key}`;

  beforeAll(
    async () => {
      started = await start();
      storage = openStorage(at('t'), started.credential);
    },
    Math.max(GCS_BUILD_MS, NPM_INSTALL_MS),
  );

  afterAll(() => started[Symbol.asyncDispose]());

  test('a file is written once, and read whole, in part and from its end', async () => {
    const bytes = randomBytes(100_000);
    await storage.write(at('a/one'), bytes);
    await expect(storage.write(at('a/one'), bytes)).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
    expect(bytes.equals(await storage.read(at('a/one'), 100_000))).toBe(true);
    await expect(storage.read(at('a/one'), 99_999)).rejects.toBeInstanceOf(FileTooLarge);
    expect(await storage.readRange(at('a/one'), 99_990, 50)).toEqual(bytes.subarray(99_990));
    expect(await storage.readRange(at('a/one'), 100_000, 50)).toHaveLength(0);
    await using file = await storage.openFile(at('a/one'), 1_000);
    expect(file).toMatchObject({ sizeBytes: 100_000 });
    expect(file.tail).toEqual(bytes.subarray(99_000));
    expect(await file.read(10, 20)).toEqual(bytes.subarray(10, 30));
    await storage.write(at('a/empty'), new Uint8Array());
    expect(await storage.read(at('a/empty'), 10)).toHaveLength(0);
    await using empty = await storage.openFile(at('a/empty'), 100);
    expect(empty).toMatchObject({ sizeBytes: 0 });
  });

  test('an opened file is the one that was opened', async () => {
    await storage.write(at('opened'), Buffer.from('old text'));
    await storage.write(at('other'), Buffer.from('new text'));
    await using file = await storage.openFile(at('opened'), 0);
    await storage.place(at('other'), at('opened'));
    await expect(file.read(0, 4)).rejects.toBeInstanceOf(FileReplaced);
    expect(await storage.exists(at('other'))).toBe(false);
    expect(String(await storage.read(at('opened'), 100))).toBe('new text');
  });

  test.each([0, 5, 16 * 2 ** 20, 40 * 2 ** 20 + 17])('a stream of %d bytes becomes one file', async (size) => {
    const bytes = randomBytes(size);
    const location = at(`stream/${size}`);
    expect(await storage.writeStream(location, inChunks(bytes, 300_000))).toBe(size);
    expect(bytes.equals(await storage.read(location, size))).toBe(true);
    await expect(storage.writeStream(location, inChunks(bytes, 300_000))).rejects.toMatchObject({
      code: 'STORAGE_ERROR',
    });
    expect(bytes.equals(await storage.read(location, size))).toBe(true);
  });

  test('a stream that breaks leaves no file', async () => {
    async function* broken(): AsyncGenerator<Buffer> {
      yield* inChunks(randomBytes(33 * 2 ** 20), 2 ** 20);
      throw new Error('no more');
    }
    await expect(storage.writeStream(at('broken/x'), broken())).rejects.toThrow('no more');
    expect(await collected(storage.list(at('broken')))).toEqual([]);
  });

  test('the checksums of the writer come with every range, also of an object of parts', async () => {
    const checksums = { crc: 0xdeadbeef, segments: [1, 2, 0xffffffff] };
    for (const size of [1_000, 17 * 2 ** 20]) {
      const location = at(`sums/${size}`);
      await storage.writeStream(location, inChunks(randomBytes(size), 2 ** 20), checksums);
      await using file = await storage.openFile(location, 10);
      expect(file.checksums).toEqual(checksums);
    }
    await expect(storage.read(at('sums/1000'), 1_000)).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
  });

  test('keys are taken byte for byte', async () => {
    const keys = ['k/x', 'k/ä ü+&=%2F%', "k/'()*!~", 'k/a:b@c,d;e$f', 'k/%00', 'k/a b'];
    for (const key of keys) await storage.write(at(key), Buffer.from(key));
    for (const key of keys) expect(String(await storage.read(at(key), 100))).toBe(key);
    expect((await collected(storage.list(at('k')))).toSorted()).toEqual(keys.map(at).toSorted());
    await storage.place(at(keys[1] ?? ''), at("k2/ä ü+&=%2F%'"));
    expect(String(await storage.read(at("k2/ä ü+&=%2F%'"), 100))).toBe(keys[1]);
    await storage.remove([...keys.map(at), at('k/none')]);
    expect(await collected(storage.list(at('k')))).toEqual([]);
  });

  test('a list says of a file what the file says of itself, and nothing of a neighbour', async () => {
    await storage.write(at('list/one'), Buffer.from('one'));
    await storage.write(at('list2/two'), Buffer.from('two'));
    const [listed] = await collected(storage.listFiles(at('list')));
    expect(listed).toEqual(await storage.fileAt(at('list/one')));
    expect(await collected(storage.list(at('list')))).toEqual([at('list/one')]);
    expect(await storage.resolve(at('list'))).toBe(at('list'));
    expect(await storage.resolve(at('lis'))).toBeUndefined();
  });

  test('a missing file is not found', async () => {
    await expect(storage.read(at('none'), 10)).rejects.toBeInstanceOf(FileNotFound);
    await expect(storage.readRange(at('none'), 0, 10)).rejects.toBeInstanceOf(FileNotFound);
    await expect(storage.openFile(at('none'), 10)).rejects.toBeInstanceOf(FileNotFound);
    await expect(storage.place(at('none'), at('x'))).rejects.toBeInstanceOf(FileNotFound);
    expect(await storage.fileAt(at('none'))).toBeUndefined();
    await storage.remove([at('none')]);
  });

  test('a wrong key is a clear error without the key, and is renewed once', async () => {
    await storage.write(at('renewed'), Buffer.from('text'));
    const { credential } = started;
    const wrong: StoreCredential =
      credential.kind === 'adls'
        ? { ...credential, sas: credential.sas.replace(/sig=[^&]+/, 'sig=c2VjcmV0LXNpZ25hdHVyZQ%3D%3D') }
        : { ...credential, kind: 'gcs', token: 'secret-signature', expiresAtMs: null };
    const error = await openStorage(at('t'), wrong)
      .read(at('renewed'), 10)
      .catch((one: unknown) => one as Error & { code: string });
    expect(error).toMatchObject({ code: 'STORAGE_ERROR' });
    expect(JSON.stringify([error, String(error), (error as Error).cause])).not.toMatch(/signature|c2VjcmV0/);
    let asked = 0;
    const renew = (): Promise<StoreCredential> => Promise.resolve((asked++, credential));
    expect(String(await openStorage(at('t'), wrong, { renew }).read(at('renewed'), 10))).toBe('text');
    expect(await openStorage(at('t'), wrong, { renew }).exists(at('renewed'))).toBe(true);
    expect(asked).toBe(2);
  });
});
