import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { openScanned } from '../scan/readable-path.ts';
import { hasLongNumbers } from './long-numbers.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'skein-numbers-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function has(text: string): Promise<boolean> {
  const location = join(dir, 'file.json');
  writeFileSync(location, text);
  const open = openScanned({ credential: FILE_CREDENTIAL });
  return hasLongNumbers(new AbortController().signal, open, { location, compression: 'none' });
}

test.each([
  '{"v":0.1234567890123456}',
  '{"v": -123456789012345.67, "w": 1}',
  '[1, 1234567890123456e5]',
  '{"v":1.234567890123456789e-300\n}',
  `{"v":${'1'.repeat(100)}.5}`,
])('%s has a number of many digits', async (text) => {
  expect(await has(text)).toBe(true);
});

test.each([
  '{"v":0.12345678901234}',
  '{"v":1234567890123456789}',
  '{"v":"0.12345678901234567890"}',
  '{"v":"550e8400-e29b-41d4-a716-446655440000","t":"1.2.3.4.5.6.7.8.9.0.1.2.3"}',
  '',
])('%s has none', async (text) => {
  expect(await has(text)).toBe(false);
});

test('digests are texts, and a number is found wherever it stands between what is read at once', async () => {
  const row = (i: number): string => `{"id": ${i}, "m": "${createHash('md5').update(String(i)).digest('hex')}"}\n`;
  const rows = Array.from({ length: 30_000 }, (_, i) => row(i)).join('');
  expect(await has(rows)).toBe(false);
  const number = ': 0.12345678901234567890, ';
  for (const at of [2 ** 20 - 30, 2 ** 20 - 20, 2 ** 20 - 10, 2 ** 20 - 2, 2 ** 20]) {
    expect(await has(`${' '.repeat(at)}${number}${rows}`), String(at)).toBe(true);
  }
});
