import fc from 'fast-check';
import { expect, test } from 'vitest';
import { afterBeginning } from './after-beginning.ts';

test.each([
  ['user', 'uses'],
  ['a_%', 'a_&'],
  ['', undefined],
  ['\u{d7ff}', '\u{e000}'],
  ['a\u{10ffff}\u{10ffff}', 'b'],
  ['\u{10ffff}', undefined],
])('behind %j comes %j', (beginning, after) => {
  expect(afterBeginning(beginning)).toBe(after);
});

test('a text begins with another exactly when it lies in its range, as Postgres compares the bytes of UTF-8', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', '\u{d7ff}', '\u{e000}', '\u{10fffe}', '\u{10ffff}'),
    maxLength: 4,
  });
  fc.assert(
    fc.property(text, text, (beginning, other) => {
      const after = afterBeginning(beginning);
      const bytes = Buffer.from(other);
      const isBehind = after !== undefined && bytes.compare(Buffer.from(after)) >= 0;
      expect(bytes.compare(Buffer.from(beginning)) >= 0 && !isBehind).toBe(other.startsWith(beginning));
    }),
    { numRuns: 2_000 },
  );
});
