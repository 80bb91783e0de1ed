import { linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStorage } from '#shared/storage/open-storage.ts';
import { RealFiles } from './real-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skein-real-'));
  for (const tenant of ['ours', 'theirs']) {
    mkdirSync(join(folder, tenant, 'data'), { recursive: true });
    for (const name of ['a', 'b']) writeFileSync(join(folder, tenant, 'data', name), `${tenant} ${name}`);
  }
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (...parts: readonly string[]): string => join(folder, ...parts);

function added(): RealFiles {
  const files = new RealFiles();
  const storage = openStorage(`file://${at('ours')}`, { kind: 'file', roots: [`file://${at('ours')}`] });
  for (const name of ['a', 'b']) files.add(() => storage, `file://${at('ours', 'data', name)}`);
  return files;
}

test('files that stay as they are hold, also when others come beside them', () => {
  const files = added();
  writeFileSync(at('ours', 'data', 'c'), 'another commit');
  files.check();
});

test('an expiry deletes files, and a backup links them, while a task reads them', async () => {
  const files = added();
  // The clock of the file system has steps.
  await sleep(20);
  rmSync(at('ours', 'data', 'a'));
  linkSync(at('ours', 'data', 'b'), at('backup'));
  files.check();
  rmSync(at('ours', 'data'), { recursive: true });
  files.check();
});

test.each<[string, () => void, string]>([
  [
    'a file is exchanged for a link',
    () => {
      rmSync(at('ours', 'data', 'b'));
      symlinkSync(at('theirs', 'data', 'b'), at('ours', 'data', 'b'));
    },
    'was changed',
  ],
  [
    'a file is exchanged for another one',
    () => {
      // Before the first is deleted, whose inode would be free for it.
      linkSync(at('theirs', 'data', 'b'), at('other'));
      renameSync(at('other'), at('ours', 'data', 'b'));
    },
    'was changed',
  ],
  [
    'a folder is exchanged for a link',
    () => {
      renameSync(at('ours', 'data'), at('ours', 'aside'));
      symlinkSync(at('theirs', 'data'), at('ours', 'data'));
    },
    'symbolic link',
  ],
  [
    'a folder is exchanged for a link, where one file is not',
    () => {
      renameSync(at('ours', 'data'), at('ours', 'aside'));
      rmSync(at('theirs', 'data', 'a'));
      symlinkSync(at('theirs', 'data'), at('ours', 'data'));
    },
    'symbolic link',
  ],
])('%s: what was read does not hold', (_what, exchange, reason) => {
  const files = added();
  exchange();
  expect(() => files.check()).toThrow(reason);
});

test('a file comes to a place where none was', () => {
  rmSync(at('ours', 'data', 'a'));
  const files = added();
  symlinkSync(at('theirs', 'data', 'a'), at('ours', 'data', 'a'));
  expect(() => files.check()).toThrow('symbolic link');
});
