import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SKEIN_RELEASE } from '#shared/release.ts';
import { refuseNewerDataDir, writeDataDirFormat } from './data-dir-format.ts';

let dataDir: string;
beforeEach(() => void (dataDir = mkdtempSync(join(tmpdir(), 'skein-format-'))));
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const file = (): string => join(dataDir, 'format.json');

test('a directory without a format, and one of ours, are taken', () => {
  expect(() => refuseNewerDataDir(dataDir)).not.toThrow();
  writeDataDirFormat(dataDir);
  expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({ format: 1, release: SKEIN_RELEASE });
  expect(() => refuseNewerDataDir(dataDir)).not.toThrow();
});

test('one of a newer format is refused with both formats and releases', () => {
  writeFileSync(file(), '{"format": 2, "release": "7.0.0"}');
  const message = `${dataDir} has format 2, of Skein 7.0.0; this is Skein ${SKEIN_RELEASE}, which knows formats up to 1`;
  expect(() => refuseNewerDataDir(dataDir)).toThrow(expect.objectContaining({ code: 'NEWER_DATA', message }));
});

test.each(['', '[', 'null', '{"release": "7.0.0"}'])('a file that says %j is refused by its name', (text) => {
  writeFileSync(file(), text);
  const refusal = { code: 'START_FAILED', message: expect.stringContaining(file()) as string };
  expect(() => refuseNewerDataDir(dataDir)).toThrow(expect.objectContaining(refusal));
});
