import { RowError } from './row-format.ts';
import type { TakenRow } from './text-rows.ts';

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
const HEAD_BYTES = SIGNATURE.length + 8;
/** Bits of the flags that a reader has to understand. */
const CRITICAL_FLAGS = 0xff_ff_00_00;

/** The end of the head; null = it is not whole. @throws RowError */
export function binaryHead(bytes: Buffer): number | null {
  const begin = bytes.subarray(0, SIGNATURE.length);
  if (!begin.equals(SIGNATURE.subarray(0, begin.length))) throw new RowError('COPY file signature not recognized');
  if (bytes.length < HEAD_BYTES) return null;
  if ((bytes.readUInt32BE(SIGNATURE.length) & CRITICAL_FLAGS) !== 0) {
    throw new RowError('unrecognized critical flags in COPY file header');
  }
  const extension = bytes.readInt32BE(SIGNATURE.length + 4);
  if (extension < 0) throw new RowError('invalid COPY file header (missing length)');
  return bytes.length < HEAD_BYTES + extension ? null : HEAD_BYTES + extension;
}

/** @throws RowError */
export function takeBinaryRow(bytes: Buffer, from: number, columns: number): TakenRow | null {
  if (from + 2 > bytes.length) return null;
  const count = bytes.readInt16BE(from);
  if (count === -1) return { fields: [], count: 0, next: from + 2, lines: 1, isEnd: true };
  if (count !== columns) throw new RowError(`row field count is ${count}, expected ${columns}`);
  const fields: (Buffer | null)[] = [];
  let at = from + 2;
  for (let i = 0; i < count; i += 1) {
    if (at + 4 > bytes.length) return null;
    const length = bytes.readInt32BE(at);
    at += 4;
    if (length < -1) throw new RowError('invalid field size');
    if (length < 0) {
      fields.push(null);
      continue;
    }
    if (at + length > bytes.length) return null;
    fields.push(bytes.subarray(at, at + length));
    at += length;
  }
  return { fields, count, next: at, lines: 1, isEnd: false };
}
