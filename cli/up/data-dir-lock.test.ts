import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockDataDir } from './data-dir-lock.ts';

let dataDir: string;
beforeEach(() => void (dataDir = mkdtempSync(join(tmpdir(), 'skein-lock-'))));
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

test('a locked data directory is refused with the pid of its holder, and free again afterwards', () => {
  const lock = lockDataDir(dataDir);
  expect(readFileSync(join(dataDir, 'lock'), 'utf8')).toBe(`${process.pid}\n`);
  expect(() => lockDataDir(dataDir)).toThrow(`${dataDir} is in use by another skein up (pid ${process.pid})`);
  lock.release();
  expect(readdirSync(dataDir)).toEqual([]);
  lockDataDir(dataDir).release();
});

test('the file of a process that was killed is no lock, whatever pid it names', () => {
  writeFileSync(join(dataDir, 'lock'), `${process.ppid}\n`);
  lockDataDir(dataDir).release();
});
