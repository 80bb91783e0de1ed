import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { fileCredential } from './credential.ts';
import { openStorage } from './open-storage.ts';
import { FileNotFound, FileTooLarge, NotAFile, type Storage } from './storage.ts';

let dir: string;
let storage: Storage;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'skein-storage-'));
  storage = openStorage(`file://${dir}`, FILE_CREDENTIAL);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** How often folders are made and removed beside those who use them. */
const ROUNDS = 200;

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

test('folders that are removed meanwhile: lists and looks find what is left, and a write makes its folder again', async () => {
  const folder = `file://${dir}/going`;
  const ended = new AbortController();
  const during = async (work: (round: number) => Promise<unknown>): Promise<void> => {
    for (let round = 0; !ended.signal.aborted; round += 1) await work(round);
  };
  const removing = async (): Promise<void> => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await storage.makeFolder(`${folder}/a/b/c`);
      await storage.removeEmptyFolders(folder);
    }
    ended.abort();
  };
  const replaced = async (round: number): Promise<void> => {
    const [from, to] = [`file://${dir}/from-${round}`, `${folder}/a/placed`];
    await storage.write(from, Buffer.from('placed'));
    await storage.place(from, to);
    await storage.remove([to]);
  };
  const users = [
    removing(),
    during(() => Array.fromAsync(storage.listFiles(folder))),
    during(() => Array.fromAsync(storage.list(folder))),
    during(() => storage.fileAt(`${folder}/a/b/c/file`)),
    during(() => storage.remove([`${folder}/a/b/c/file`])),
    during(async (round) => {
      const location = `${folder}/a/b/written-${round}`;
      await storage.write(location, Buffer.from('written'));
      await storage.remove([location]);
    }),
    during(replaced),
  ];
  const wrong = (await Promise.allSettled(users)).filter((result) => result.status === 'rejected');
  expect(wrong).toEqual([]);
}, 60_000);

test.each(['s3://bucket/key', 'gs://bucket/key'])('there is no storage for %s', (location) => {
  expect(() => openStorage(location, FILE_CREDENTIAL)).toThrow(
    expect.objectContaining({ code: 'NOT_SUPPORTED' }) as Error,
  );
});

describe('a symbolic link below a root', () => {
  const REFUSED = expect.objectContaining({ code: 'FORBIDDEN' }) as Error;
  let outside: string;
  let root: string;
  let own: Storage;
  beforeAll(async () => {
    outside = join(dir, 'outside');
    await mkdir(join(dir, 'real'));
    await mkdir(outside);
    await writeFile(join(outside, 'secret'), 'key');
    // The root itself, and what is above it, may be a link.
    root = join(dir, 'root');
    await symlink(join(dir, 'real'), root);
    own = openStorage(root, fileCredential(root));
    await own.write(`${root}/t/plain`, Buffer.from('plain'));
    await symlink(outside, join(root, 't/folder'));
    await symlink(join(outside, 'secret'), join(root, 't/file'));
  });

  const CALLS: Readonly<Record<string, (at: string) => Promise<unknown>>> = {
    read: (at) => own.read(`${at}/secret`, 100),
    readRange: (at) => own.readRange(`${at}/secret`, 0, 1),
    openFile: (at) => own.openFile(`${at}/secret`, 1),
    list: (at) => Array.fromAsync(own.list(at)),
    listFiles: (at) => Array.fromAsync(own.listFiles(at)),
    fileAt: (at) => own.fileAt(`${at}/secret`),
    exists: (at) => own.exists(`${at}/secret`),
    modifiedMs: (at) => own.modifiedMs(`${at}/secret`),
    write: (at) => own.write(`${at}/new`, Buffer.from('x')),
    writeStream: (at) => own.writeStream(`${at}/new`, ReadableStream.from([Buffer.from('x')])),
    'place from': (at) => own.place(`${at}/secret`, `${root}/t/taken`),
    'place to': (at) => own.place(`${root}/t/plain`, `${at}/secret`),
    sync: (at) => own.sync(`${at}/secret`),
    makeFolder: (at) => own.makeFolder(`${at}/new/folder`),
    removeEmptyFolders: (at) => own.removeEmptyFolders(at),
    localPath: (at) => Promise.resolve().then(() => own.localPath(`${at}/secret`)),
    'localPath of no file': (at) => Promise.resolve().then(() => own.localPath(`${at}/none/of/these`)),
  };

  test.each(Object.entries(CALLS))('%s does not go through it', async (_call, call) => {
    await expect(call(`${root}/t/folder`)).rejects.toThrow(REFUSED);
    expect(await readdir(outside)).toEqual(['secret']);
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('key');
  });

  test('nothing is deleted behind it, and the link itself may be', async () => {
    const behind = `${root}/t/folder/secret`;
    await expect(own.remove([behind])).rejects.toMatchObject({ stayed: [{ location: behind }] });
    expect(await readdir(outside)).toEqual(['secret']);
    await own.write(`${root}/u/gone`, Buffer.from('x'));
    await symlink(outside, join(root, 'u/link'));
    await own.remove([`${root}/u/link`, `${root}/u/gone`]);
    await own.removeEmptyFolders(`${root}/u`);
    expect(await readdir(root)).toEqual(['t']);
    expect(await readdir(outside)).toEqual(['secret']);
  });

  test('a link to a file is no file', async () => {
    await expect(own.read(`${root}/t/file`, 100)).rejects.toThrow(REFUSED);
    expect([await own.exists(`${root}/t/file`), await own.fileAt(`${root}/t/file`)]).toEqual([false, undefined]);
    expect((await Array.fromAsync(own.list(root))).flat()).toEqual([`file://${root}/t/plain`]);
  });

  test('what lies outside of all roots is refused, by its text already', async () => {
    await expect(own.read(`${outside}/secret`, 100)).rejects.toThrow(REFUSED);
    await expect(own.read(`${root}2/secret`, 100)).rejects.toThrow(REFUSED);
  });

  test('a folder that is exchanged for a link, again and again, shows and takes nothing', async () => {
    const folder = join(root, 'x/changing');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'secret'), 'own');
    const over = new AbortController();
    // A write makes the folder anew while it is away, and can put a file into it while it is cleared (ENOTEMPTY).
    const clear = (): Promise<void> => rm(folder, { recursive: true, force: true }).catch(() => undefined);
    const exchange = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await rename(folder, `${folder}.away`).catch(() => undefined);
        await symlink(outside, folder).catch(clear);
        await clear();
        await rename(`${folder}.away`, folder).catch(clear);
      }
    };
    const running = exchange();
    const seen = new Set<string>();
    for (let i = 0; i < 300; i++) {
      const text = await own.read(`${folder}/secret`, 100).catch(() => Buffer.from('refused'));
      seen.add(Buffer.from(text).toString());
      await own.write(`${folder}/${i}`, Buffer.from('x')).catch(() => undefined);
      for (const page of await Array.fromAsync(own.listFiles(folder)).catch(() => [])) {
        for (const { sizeBytes, location } of page) if (location.endsWith('/secret')) expect(sizeBytes).toBe(3);
      }
      await own.remove([`${folder}/secret-of-others`]).catch(() => undefined);
    }
    over.abort();
    await running;
    expect(seen.has('key')).toBe(false);
    expect(await readdir(outside)).toEqual(['secret']);
  });
});
