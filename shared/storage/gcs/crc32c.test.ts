import { expect, test } from 'vitest';
import { crc32c } from './crc32c.ts';

const sum = (bytes: Uint8Array): string => Buffer.from(crc32c(bytes), 'base64').toString('hex');

test('the check value of the catalogue of CRCs, and the vectors of RFC 3720', () => {
  expect(sum(Buffer.from('123456789'))).toBe('e3069283');
  expect(sum(new Uint8Array(32))).toBe('8a9136aa');
  expect(sum(new Uint8Array(32).fill(0xff))).toBe('62a8ab43');
  expect(sum(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe('46dd794e');
  expect(sum(new Uint8Array())).toBe('00000000');
});
