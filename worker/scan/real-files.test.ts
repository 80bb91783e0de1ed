import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
    'a folder is exchanged for a link',
    () => {
      renameSync(at('ours', 'data'), at('ours', 'aside'));
      symlinkSync(at('theirs', 'data'), at('ours', 'data'));
    },
    'symbolic link',
  ],
  [
    'a file is put aside and back',
    () => {
      renameSync(at('ours', 'data', 'b'), at('ours', 'aside'));
      symlinkSync(at('theirs', 'data', 'b'), at('ours', 'data', 'b'));
      rmSync(at('ours', 'data', 'b'));
      renameSync(at('ours', 'aside'), at('ours', 'data', 'b'));
    },
    'was changed',
  ],
  ['a file is deleted', () => rmSync(at('ours', 'data', 'a')), 'was changed'],
])('%s: what was read does not hold', async (_what, exchange, reason) => {
  const files = added();
  // The clock of the file system has steps.
  await sleep(20);
  exchange();
  expect(() => files.check()).toThrow(reason);
});
