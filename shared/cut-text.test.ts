import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutText, joinEnds } from './cut-text.ts';

const MAX = 256;

test('a text that fits stays as it is', () => {
  for (const text of ['', 'short', 'x'.repeat(MAX), 'é'.repeat(MAX / 2)]) expect(cutText(text, MAX)).toBe(text);
});

test('of a longer text both ends stay, and how much was left out', () => {
  const cut = cutText(`begin ${'x'.repeat(10_000)} end`, MAX);
  expect(cut).toMatch(/^begin x+ \[\.\.\. \d+ bytes left out \.\.\.\] x+ end$/);
  const [, leftOut] = /(\d+) bytes/.exec(cut) ?? [];
  expect(cut.replace(/ \[.*\] /, '').length + Number(leftOut)).toBe(10_010);
});

test('no text is longer than the limit, no character is cut in two, and bytes are cut as text is', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('x', 'é', '€', '🦆', '\0', '\n', '"'), maxLength: 600 }),
      fc.integer({ min: 64, max: 300 }),
      (text, bytesMax) => {
        const cut = cutText(text, bytesMax);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytesMax);
        expect(cut.isWellFormed()).toBe(true);
        expect(cut).not.toContain('\uFFFD');
        const bytes = Buffer.from(text);
        if (bytes.length <= bytesMax) return;
        expect(joinEnds(bytes.subarray(0, bytesMax), bytes.subarray(-bytesMax), bytes.length, bytesMax)).toBe(cut);
      },
    ),
  );
});
