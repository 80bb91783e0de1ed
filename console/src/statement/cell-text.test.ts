import { expect, test } from 'vitest';
import { cellText, shownText } from './cell-text.ts';

test('a value of megabytes is shown by its beginning and its length; the whole is there for who copies it', () => {
  const long = 'x'.repeat(2_000_000);
  expect(shownText(long)).toBe(`${'x'.repeat(10_000)} … (2,000,000 characters)`);
  expect(cellText(long)).toBe(long);
  expect(shownText('short')).toBe('short');
});
