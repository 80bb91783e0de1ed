import type { Checksums } from '#shared/storage/storage.ts';

/** Headers of our own, which come with every answer for an object. A checksum that the store keeps by itself comes only with a whole object. */

/** Says which request has made an object. */
export const WRITE_ID_HEADER = 'x-amz-meta-skein-write';
/** CRC-32 of an object in hexadecimal digits, as its writer has computed it. */
const CRC_HEADER = 'x-amz-meta-skein-crc32';
/** Those of its segments in base64, four bytes each, the lowest first. */
const SEGMENTS_HEADER = 'x-amz-meta-skein-crc32s';
/** Bytes of one checksum. */
const SUM_BYTES = 4;

export const ownHeaders = (
  writeId: string,
  checksums: Checksums | null | undefined,
): Readonly<Record<string, string>> => ({
  [WRITE_ID_HEADER]: writeId,
  ...(checksums === null || checksums === undefined
    ? {}
    : { [CRC_HEADER]: checksums.crc.toString(16).padStart(8, '0') }),
  ...(checksums?.segments ? { [SEGMENTS_HEADER]: encodeSums(checksums.segments) } : {}),
});

/** The checksums that an answer tells; null when the object's writer has told none. */
export function checksumsIn(headers: Readonly<Record<string, string | string[] | undefined>>): Checksums | null {
  const text = String(headers[CRC_HEADER] ?? '');
  if (!/^[0-9a-f]{8}$/.test(text)) return null;
  return { crc: Number.parseInt(text, 16), segments: decodeSums(String(headers[SEGMENTS_HEADER] ?? '')) };
}

function encodeSums(sums: readonly number[]): string {
  const bytes = Buffer.alloc(sums.length * SUM_BYTES);
  for (const [i, sum] of sums.entries()) bytes.writeUInt32LE(sum, i * SUM_BYTES);
  return bytes.toString('base64');
}

function decodeSums(text: string): readonly number[] | null {
  const bytes = Buffer.from(text, 'base64');
  if (text === '' || bytes.length % SUM_BYTES !== 0) return null;
  return Array.from({ length: bytes.length / SUM_BYTES }, (_, i) => bytes.readUInt32LE(i * SUM_BYTES));
}
