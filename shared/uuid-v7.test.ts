import { expect, test } from 'vitest';
import { newUuidV7, timeOfUuidV7 } from './uuid-v7.ts';

test('a new one holds its time, to the millisecond, and is another one each time', () => {
  const nowMs = 0x0192_3456_789a;
  const made = newUuidV7(nowMs);
  expect(made).toMatch(/^01923456-789a-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(timeOfUuidV7(made)).toBe(nowMs);
  expect(newUuidV7(nowMs)).not.toBe(made);
});

test.each(['', 'x', '01923456-789a-4000-8000-000000000000', '01923456-789a-7000-c000-000000000000'])(
  '%j is none',
  (text) => expect(timeOfUuidV7(text)).toBeUndefined(),
);
