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
    ['100%.csv', ['100%.csv']],
    ['2024-01-01T00:00.csv', ['2024-01-01T00:00.csv']],
    ['year=2024/a b=1,c.csv', ['year=2024', 'a b=1,c.csv']],
    ['%2e%2e/%2F', ['%2e%2e', '%2F']],
    ['file:a?b#c*[d]"e"<f>|~$`\'{}', ['file:a?b#c*[d]"e"<f>|~$`\'{}']],
    ['.hidden/...', ['.hidden', '...']],
    ['a/.uploads', ['a', '.uploads']],
    [' a /b ', [' a ', 'b ']],
    ['e\u0301.csv', ['e\u0301.csv']],
    ['👩\u200d💻', ['👩\u200d💻']],
  ])('%j is taken', (path, names) => {
    expect(stagePathNames(path)).toEqual(names);
  });

  test.each([
    ['..', 'has the name ..'],
    ['a/../../b', 'has the name ..'],
    ['a/./b', 'has the name .'],
    ['.uploads/1/part', '.uploads'],
    ['.UPLOADS', '.uploads'],
    ['/etc/passwd', '"/etc/passwd" of a stage begins with a slash'],
    ['a//b', 'an empty name'],
    ['a//', 'an empty name'],
    ['a\\..\\b', '"a\\..\\b" of a stage has the character \\ (U+005C)'],
    ['a\0b', '"a<U+0000>b" of a stage has the character U+0000'],
    ['a\nb', 'the character U+000A'],
    ['a\x7fb', 'the character U+007F'],
    ['a\x85b', 'the character U+0085'],
    ['a\u202Eb', 'the character U+202E'],
    ['a\uD800', 'no Unicode'],
    ['é'.repeat(101), 'more than 200 bytes'],
    [`${'a/'.repeat(32)}a`, 'more than 32 names'],
    ['a'.repeat(1_025), 'more than 1024 bytes'],
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
