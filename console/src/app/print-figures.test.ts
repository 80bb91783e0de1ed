import { expect, test } from 'vitest';
import { printBytes, printMs } from './print-figures.ts';

test('a time is rounded to the unit that it is told in, and no unit overflows', () => {
  expect([0, 999.4, 999.6, 1_000, 59_949, 59_950, 60_000, 119_400, 119_600, 3_661_000].map(printMs)).toEqual([
    '0 ms',
    '999 ms',
    '1.0 s',
    '1.0 s',
    '59.9 s',
    '1 min 0 s',
    '1 min 0 s',
    '1 min 59 s',
    '2 min 0 s',
    '61 min 1 s',
  ]);
});

test('bytes are told in binary units', () => {
  expect([0, 1, 1_023, 1_024, 1_536, 1_048_576, 1_048_575].map(printBytes)).toEqual([
    '0 B',
    '1 B',
    '1023 B',
    '1.0 KiB',
    '1.5 KiB',
    '1.0 MiB',
    '1.0 MiB',
  ]);
});
