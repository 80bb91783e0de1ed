import { describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { stageFileNames, stagePathNames } from './stage-path.ts';

describe('the path of a file in a stage', () => {
  test.each([
    ['', []],
    ['a.csv', ['a.csv']],
    ['2026/06/a b.csv', ['2026', '06', 'a b.csv']],
    ['folder/', ['folder']],
    ['größe/数.parquet', ['größe', '数.parquet']],
    ['a..b/c', ['a..b', 'c']],
  ])('%j is taken', (path, names) => {
    expect(stagePathNames(path)).toEqual(names);
  });

  test.each([
    ['..', 'begins with a dot'],
    ['a/../../b', 'begins with a dot'],
    ['a/./b', 'begins with a dot'],
    ['.upload', 'begins with a dot'],
    ['/etc/passwd', 'does not begin with a slash'],
    ['a//b', 'is empty'],
    ['a//', 'is empty'],
    ['a\\..\\b', 'not allowed'],
    ['a/%2e%2e/b', 'not allowed'],
    ['file:a', 'not allowed'],
    ['a\0b', 'not allowed'],
    ['a\nb', 'not allowed'],
    ['a\u202Eb', 'not allowed'],
    ['a*.csv', 'not allowed'],
    ['a /b', 'a space'],
    ['e\u0301', 'normal form C'],
    ['a\uD800', 'no Unicode'],
    ['é'.repeat(101), 'at most 200 bytes'],
    [`${'a/'.repeat(32)}a`, 'at most 32 names'],
    ['a'.repeat(1_025), 'at most 1024 bytes'],
  ])('%j is refused', (path, reason) => {
    expect(() => stagePathNames(path)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', message: expect.stringContaining(reason) as string }),
    );
  });

  test.each(['', 'folder/'])('a file is not %j', (path) => {
    expect(() => stageFileNames(path)).toThrow(SkeinError);
  });

  test('a file has a name at the end', () => {
    expect(stageFileNames('a/b.csv')).toEqual(['a', 'b.csv']);
  });
});
