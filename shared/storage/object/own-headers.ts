import type { IncomingMessage } from 'node:http';
import type { Checksums } from '#shared/storage/storage.ts';

/**
 * Headers of our own, which come with every answer for an object. A checksum that the store keeps by itself comes only with a whole object.
 * Each kind of store has its own beginning for them: `x-amz-meta-skein-`, `x-goog-meta-skein-`, `x-ms-meta-skein_` (Azure's names take no
 * hyphen).
 */

/** Says which request has made an object. */
const WRITE_ID = 'write';
/** CRC-32 of an object in hexadecimal digits, as its writer has computed it. */
const CRC = 'crc32';
/** Those of its segments in base64, four bytes each, the lowest first. */
const SEGMENTS = 'crc32s';
/** Bytes of one checksum. */
const SUM_BYTES = 4;

type Headers = IncomingMessage['headers'];

/** @param prefix how the names begin; '' = without the store's beginning */
export const ownHeaders = (
  prefix: string,
  writeId: string,
  checksums: Checksums | null | undefined,
): Readonly<Record<string, string>> => ({
  [prefix + WRITE_ID]: writeId,
  ...(checksums === null || checksums === undefined
    ? {}
    : { [prefix + CRC]: checksums.crc.toString(16).padStart(8, '0') }),
  ...(checksums?.segments ? { [prefix + SEGMENTS]: encodeSums(checksums.segments) } : {}),
});

/** The id of the request that has made an object; undefined when it was none of Skein's. */
export const writeIdIn = (prefix: string, headers: Headers): string | undefined =>
  String(headers[prefix + WRITE_ID] ?? '') || undefined;

/** The checksums that an answer tells; null when the object's writer has told none. */
export function checksumsIn(prefix: string, headers: Headers): Checksums | null {
  const text = String(headers[prefix + CRC] ?? '');
  if (!/^[0-9a-f]{8}$/.test(text)) return null;
  return { crc: Number.parseInt(text, 16), segments: decodeSums(String(headers[prefix + SEGMENTS] ?? '')) };
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
