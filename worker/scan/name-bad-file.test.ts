import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { nameBadFile } from './name-bad-file.ts';

const messageOf = (text: string, files: readonly string[]): string =>
  nameBadFile(new SkeinError('INVALID_TABLE_DATA', text), new Set(files)).message;

test('the error of a bad page names its file, or files among which it is', () => {
  expect(messageOf('Out of buffer', ['file:///w/t/data/a.parquet'])).toBe(
    'the file a.parquet is not a valid Parquet file: Out of buffer',
  );
  const many = ['/w/a.parquet', '/w/b.parquet', '/w/c.parquet', '/w/d.parquet', '/w/e.parquet'];
  expect(messageOf('Out of buffer', many)).toMatch(
    /^one of the files a\.parquet, b\.parquet, c\.parquet and 2 more is /,
  );
});

test('nothing changes where the file has its name already, or none is read, or the error is another', () => {
  const named = 'Failed to read file "a.parquet": Page sizes must be >= 0';
  expect(messageOf(named, ['/w/a.parquet'])).toBe(named);
  expect(messageOf('Out of buffer', [])).toBe('Out of buffer');
  const other = new SkeinError('OUT_OF_MEMORY', 'x');
  expect(nameBadFile(other, new Set(['/w/a.parquet']))).toBe(other);
});
