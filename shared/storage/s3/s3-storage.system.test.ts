import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assumeRole } from '#catalog/storage/assume-role.ts';
import { readS3Settings } from '#catalog/metadata/s3-settings.ts';
import { FilesStayed } from '#shared/storage/files-stayed.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { FileNotFound, FileTooLarge, type Storage } from '#shared/storage/storage.ts';
import { MINIO_BUILD_MS, startMinio, type Minio } from '#test/support/minio.ts';

let minio: Minio;
let storage: Storage;

const at = (key: string): string => `s3://warehouse/${key}`;

beforeAll(async () => {
  minio = await startMinio();
  await minio.makeBucket('warehouse');
  storage = openStorage(at('t'), minio.key);
}, MINIO_BUILD_MS);

afterAll(() => minio[Symbol.asyncDispose]());

const collected = async <T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> => {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
};

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let begin = 0; begin < bytes.length; begin += size)
    yield await Promise.resolve(bytes.subarray(begin, begin + size));
}

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
});

test('an opened file is the one that was opened', async () => {
  await storage.write(at('opened'), Buffer.from('old text'));
  await storage.write(at('other'), Buffer.from('new text'));
  await using file = await storage.openFile(at('opened'), 0);
  await storage.place(at('other'), at('opened'));
  await expect(file.read(0, 4)).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
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
});

test('a stream that breaks leaves no file', async () => {
  async function* broken(): AsyncGenerator<Buffer> {
    yield* inChunks(randomBytes(33 * 2 ** 20), 2 ** 20);
    throw new Error('no more');
  }
  await expect(storage.writeStream(at('broken/x'), broken())).rejects.toThrow('no more');
  expect(await collected(storage.list(at('broken')))).toEqual([]);
});

test('keys are taken byte for byte', async () => {
  // MinIO refuses `//`, which S3 allows.
  const keys = ['k/x', 'k/ä ü+&=%2F%', "k/'()*!~", 'k/a:b@c,d;e$f', 'k/%00', 'k/a b'];
  for (const key of keys) await storage.write(at(key), Buffer.from(key));
  for (const key of keys) expect(String(await storage.read(at(key), 100))).toBe(key);
  expect((await collected(storage.list(at('k')))).sort()).toEqual(keys.map(at).sort());
  await storage.remove(keys.map(at));
  expect(await collected(storage.list(at('k')))).toEqual([]);
});

test.each(['s3://warehouse/a/../b', 's3://warehouse/./b', 's3a://warehouse/a/..'])('%s is no location', (location) => {
  expect(() => openStorage(location, minio.key)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }) as Error);
});

test('lists come by pages, and many are removed at once', async () => {
  const locations = Array.from({ length: 1_001 }, (_, i) => at(`many/${i}`));
  for (let i = 0; i < locations.length; i += 50) {
    await Promise.all(locations.slice(i, i + 50).map((one) => storage.write(one, Buffer.from('x'))));
  }
  await storage.write(at('many2'), Buffer.from('beside'));
  expect((await collected(storage.listFiles(at('many')))).map(({ location }) => location).sort()).toEqual(
    locations.toSorted(),
  );
  await storage.remove([...locations, at('never-there')]);
  expect(await collected(storage.list(at('many')))).toEqual([]);
  expect(await storage.exists(at('many2'))).toBe(true);
});

test('objects that the store keeps are named one by one, and all others are gone', async () => {
  const locations = Array.from({ length: 1_200 }, (_, i) => at(`stay/${i % 30 === 7 ? 'kept-ä&' : 'x'}${i}`));
  for (let i = 0; i < locations.length; i += 50) {
    await Promise.all(locations.slice(i, i + 50).map((one) => storage.write(one, Buffer.from('x'))));
  }
  const policy = {
    Version: '2012-10-17',
    Statement: [
      { Effect: 'Allow', Action: ['s3:*'], Resource: ['arn:aws:s3:::*'] },
      { Effect: 'Deny', Action: ['s3:DeleteObject'], Resource: ['arn:aws:s3:::warehouse/stay/kept*'] },
    ],
  };
  const { endpoint, region } = minio.key;
  const settings = readS3Settings({ flavor: 'minio', endpoint: endpoint ?? '', region });
  const session = { name: 'stay', policy: JSON.stringify(policy), lifeSeconds: 900 };
  const limited = openStorage(at('stay'), { ...minio.key, ...(await assumeRole(minio.key, settings, session)) });
  const kept = locations.filter((one) => one.includes('kept'));
  const error = await limited.remove(locations).catch((one: unknown) => one);
  expect(error).toBeInstanceOf(FilesStayed);
  const { stayed, message } = error as FilesStayed;
  expect(stayed.map(({ location }) => location).sort()).toEqual(kept.toSorted());
  expect(new Set(stayed.map(({ why }) => why))).toEqual(new Set(['AccessDenied']));
  expect(message).toContain('and 20 more: AccessDenied');
  expect((await collected(storage.list(at('stay')))).sort()).toEqual(kept.toSorted());
});

test('a list says of a file what the file says of itself', async () => {
  await storage.write(at('facts/one'), Buffer.from('one'));
  const [listed] = await collected(storage.listFiles(at('facts')));
  const own = await storage.fileAt(at('facts/one'));
  expect(listed).toEqual({ ...own, modifiedMs: listed?.modifiedMs });
  expect(own?.etag).toMatch(/^[0-9a-f]{32}$/);
});

test('a missing file is not found', async () => {
  await expect(storage.read(at('none'), 10)).rejects.toBeInstanceOf(FileNotFound);
  await expect(storage.openFile(at('none'), 10)).rejects.toBeInstanceOf(FileNotFound);
  await expect(storage.place(at('none'), at('x'))).rejects.toBeInstanceOf(FileNotFound);
  expect(await storage.fileAt(at('none'))).toBeUndefined();
  expect(await storage.resolve(at('none'))).toBeUndefined();
});

test('a wrong key is a clear error without the key', async () => {
  const wrong = openStorage(at('t'), { ...minio.key, accessKeyId: 'unknown-key' });
  const error = await wrong.read(at('a/one'), 10).catch((one: unknown) => one);
  expect(error).toMatchObject({
    code: 'STORAGE_ERROR',
    message: expect.stringContaining('403 InvalidAccessKeyId') as string,
  });
  expect(String(error)).not.toContain('unknown-key');
});
