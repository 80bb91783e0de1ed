import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crc32Combine } from './crc32-combine.ts';

test('the checksums of pieces have the checksum of the whole', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3_000 }), fc.uint8Array({ maxLength: 3_000 }), (first, second) => {
      const whole = crc32(Buffer.concat([first, second]));
      expect(crc32Combine(crc32(first), crc32(second), second.length)).toBe(whole);
    }),
  );
});

test('also those of large pieces', () => {
  const [first, second] = [Buffer.alloc(5_000_001, 'x'), Buffer.alloc(9_999_999, 'y')];
  expect(crc32Combine(crc32(first), crc32(second), second.length)).toBe(crc32(Buffer.concat([first, second])));
});
