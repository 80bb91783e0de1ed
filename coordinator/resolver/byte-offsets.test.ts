import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteOffsets } from './byte-offsets.ts';

test('agrees with the encoder, in any order', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'ü', '€', '🦆', ' ')), fc.array(fc.nat(40)), (characters, asked) => {
      const offsets = new ByteOffsets(characters.join(''));
      for (const n of asked) {
        const before = characters.slice(0, n).join('');
        expect(offsets.toCharacter(Buffer.byteLength(before))).toBe(before.length);
      }
    }),
  );
});

test('beyond the end is the end', () => {
  expect(new ByteOffsets('abc').toCharacter(9)).toBe(3);
  expect(new ByteOffsets('aü').toCharacter(9)).toBe(2);
});
