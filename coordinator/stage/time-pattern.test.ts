import { expect, test } from 'vitest';
import { timePattern } from './time-pattern.ts';

test.each([
  ['YYYY-MM-DD', '%Y-%m-%d'],
  ['DD.MM.YY HH24:MI:SS', '%d.%m.%y %H:%M:%S'],
  ['YYYY-MM-DDTHH24:MI:SS.FF3', '%Y-%m-%dT%H:%M:%S.%g'],
  ['MON DD, YYYY HH12:MI AM', '%b %d, %Y %I:%M %p'],
  ['DD "of" MMMM', '%d of %B'],
  ['YYYYMMDD TZH:TZM', '%Y%m%d %z'],
  ['%d/%m', '%d/%m'],
  ['XX', null],
  ['DD "of', null],
])('%s', (format, pattern) => {
  expect(timePattern(format)).toBe(pattern);
});
