import { expect, test } from 'vitest';
import { timeTemplate } from './to-char.ts';

test.each([
  ['YYYY-MM-DD HH24:MI:SS TZ', '%Y-%m-%d %H:%M:%S %Z'],
  ['yyyy"T"mm.ms 100% OF', '%YT%m.%g 100%% %z'],
  ['Dy, DD Mon HH12:MI AM', '%a, %d %b %I:%M %p'],
  ['FMMonth FMDay DDD', '%B %A %j'],
  ['Month', undefined],
  ['IYYY-IW', undefined],
  ['J', undefined],
  ['SSSS', undefined],
  ['MON', undefined],
  ['', ''],
])('%j is %j', (template, expected) => {
  expect(timeTemplate(template)).toBe(expected);
});
