import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeFolders, makeFoldersSync } from './make-folders.ts';

const root = mkdtempSync(join(tmpdir(), 'skein-folders-'));
afterAll(() => rmSync(root, { recursive: true }));

const MODULE = join(import.meta.dirname, 'make-folders.ts');

/** Returns the error code that a process gets when it makes the folder. A process that never ends is killed, and the test fails. */
const answerOf = (call: string): string =>
  execFileSync(
    process.execPath,
    ['-e', `import('${MODULE}').then(async (m) => { try { await m.${call}; } catch (e) { console.log(e.code); } })`],
    { timeout: 10_000, encoding: 'utf8', killSignal: 'SIGKILL' },
  ).trim();

test('makes the parents that a folder lacks, with the mode, and leaves what is there', async () => {
  makeFoldersSync(join(root, 'a/b'), { mode: 0o700 });
  await makeFolders(join(root, 'a/b/c/d'), { mode: 0o750 });
  const modes = ['a', 'a/b', 'a/b/c', 'a/b/c/d'].map((path) => statSync(join(root, path)).mode & 0o777);
  expect(modes).toEqual([0o700, 0o700, 0o750, 0o750]);
  makeFoldersSync(join(root, 'a/b'), { mode: 0o755 });
  expect(statSync(join(root, 'a/b')).mode & 0o777).toBe(0o700);
});

test('a file in the way is an error', async () => {
  writeFileSync(join(root, 'file'), '');
  expect(() => makeFoldersSync(join(root, 'file'))).toThrow(/EEXIST/);
  await expect(makeFolders(join(root, 'file/below'))).rejects.toThrow(/EEXIST|ENOTDIR/);
});

test('a file system that makes no folders is an error, and not an endless loop', () => {
  for (const call of ["makeFoldersSync('/proc/skein/x')", "makeFolders('/proc/skein')"]) {
    expect(answerOf(call), call).toBe('ENOENT');
  }
});
