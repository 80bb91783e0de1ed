import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeDataDir, makePrivateFolder } from './private-folder.ts';

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'skein-private-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

const modeOf = (...path: readonly string[]): string => (statSync(join(root, ...path)).mode & 0o7777).toString(8);
const make = (path: string, mode: number): void => {
  mkdirSync(join(root, path), { recursive: true });
  chmodSync(join(root, path), mode);
};

describe('a data directory', () => {
  test('that is new is this account’s alone', () => {
    makeDataDir(join(root, 'a/b'));
    expect([modeOf('a'), modeOf('a/b')]).toEqual(['700', '700']);
  });

  test('that an earlier release made is closed, with its folders', () => {
    for (const path of ['d', 'd/warehouse', 'd/catalogs', 'd/spill', 'd/tmp']) make(path, 0o755);
    make('d/logs', 0o700);
    make('d/warehouse/lake', 0o755);
    makeDataDir(join(root, 'd'));
    expect(['d', 'd/warehouse', 'd/catalogs', 'd/spill', 'd/tmp', 'd/logs'].map((path) => modeOf(path))).toEqual(
      Array.from({ length: 6 }, () => '700'),
    );
    expect(modeOf('d/warehouse/lake')).toBe('755');
  });

  test('that was there, empty, is closed', () => {
    make('d', 0o775);
    makeDataDir(join(root, 'd'));
    expect(modeOf('d')).toBe('700');
  });

  test('with somebody else’s folders in it stays open; ours in it do not', () => {
    for (const path of ['d', 'd/src', 'd/warehouse']) make(path, 0o755);
    makeDataDir(join(root, 'd'));
    expect([modeOf('d'), modeOf('d/src'), modeOf('d/warehouse')]).toEqual(['755', '755', '700']);
  });

  test('through which others may pass, and no more, stays so', () => {
    make('d', 0o711);
    makeDataDir(join(root, 'd'));
    expect(modeOf('d')).toBe('711');
  });

  test('whose warehouse is a link leaves alone what it leads to', () => {
    for (const path of ['d', 'elsewhere']) make(path, 0o755);
    symlinkSync(join(root, 'elsewhere'), join(root, 'd/warehouse'));
    makeDataDir(join(root, 'd'));
    expect([modeOf('d'), modeOf('elsewhere')]).toEqual(['700', '755']);
  });

  test('of another account stays as it is', () => {
    make('d', 0o755);
    const isRoot = process.getuid?.() === 0;
    const path = isRoot ? join(root, 'd') : '/';
    if (isRoot) chownSync(path, 65_534, 65_534);
    const { mode } = statSync(path);
    makeDataDir(path);
    expect(statSync(path).mode).toBe(mode);
  });
});

test('a folder that is there already is not closed', () => {
  make('open', 0o755);
  makePrivateFolder(join(root, 'open'));
  makePrivateFolder(join(root, 'open/new/deep'));
  expect([modeOf('open'), modeOf('open/new'), modeOf('open/new/deep')]).toEqual(['755', '700', '700']);
});
