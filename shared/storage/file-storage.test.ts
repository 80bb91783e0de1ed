import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { openStorage } from './open-storage.ts';
import { FileNotFound, FileTooLarge, NotAFile, type Storage } from './storage.ts';

let dir: string;
let storage: Storage;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'skein-storage-'));
  storage = openStorage(`file://${dir}`, FILE_CREDENTIAL);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const listed = async (folder: string): Promise<readonly string[]> =>
  (await Array.fromAsync(storage.list(folder))).flat().sort();

describe('file operations', () => {
  test('a file is written once: whole, with its folders, and never over another', async () => {
    const location = `file://${dir}/a/b/once`;
    await storage.write(location, Buffer.from('first'));
    await expect(storage.write(location, Buffer.from('second'))).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
    expect(Buffer.from(await storage.read(location, 5)).toString()).toBe('first');
    await expect(storage.read(location, 4)).rejects.toThrow(FileTooLarge);
    expect(await listed(`file://${dir}/a`)).toEqual([location]);
  });

  test('ranges and tails end where the file ends', async () => {
    const location = `file://${dir}/digits`;
    await storage.write(location, Buffer.from('0123456789'));
    expect((await storage.readRange(location, 8, 100)).toString()).toBe('89');
    await using file = await storage.openFile(location, 4);
    expect([file.sizeBytes, file.tail.toString()]).toEqual([10, '6789']);
    expect((await file.read(1, 3)).toString()).toBe('123');
    await storage.remove([location]);
    expect((await file.read(0, 1)).toString()).toBe('0');
    await using small = await storage.openFile(`file://${dir}/a/b/once`, 100);
    expect(small.tail.toString()).toBe('first');
  });

  test('a missing file, a folder and a file in the way each say so', async () => {
    await expect(storage.openFile(`file://${dir}/none`, 1)).rejects.toThrow(FileNotFound);
    await expect(storage.readRange(`file://${dir}/a`, 0, 1)).rejects.toThrow(NotAFile);
    await expect(storage.write(`file://${dir}/a/b/once/below`, Buffer.of())).rejects.toThrow(FileNotFound);
    expect(await listed(`file://${dir}/none`)).toEqual([]);
  });

  test('a list comes in pages, and neither it nor a deletion follows a symbolic link', async () => {
    const files = Array.from({ length: 1_001 }, (_, i) => `file://${dir}/many/${i % 2}/${i}`);
    for (const folder of ['0', '1']) await mkdir(join(dir, 'many', folder), { recursive: true });
    await Promise.all(files.map((file) => writeFile(storage.localPath(file), '')));
    await symlink(join(dir, 'a'), join(dir, 'many', 'link'));
    expect((await Array.fromAsync(storage.list(`file://${dir}/many`))).map((page) => page.length)).toEqual([1_000, 1]);
    await storage.remove([...files, `file://${dir}/none`]);
    expect(await listed(`file://${dir}/many`)).toEqual([]);
    expect(await listed(`file://${dir}/a`)).toHaveLength(1);
  });
});

test.each(['s3://bucket/key', 'gs://bucket/key'])('there is no storage for %s', (location) => {
  expect(() => openStorage(location, FILE_CREDENTIAL)).toThrow(
    expect.objectContaining({ code: 'NOT_SUPPORTED' }) as Error,
  );
});
