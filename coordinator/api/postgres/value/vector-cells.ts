import type { GrowingBytes } from './growing-bytes.ts';
import { oidOfKind, type VectorType } from '../message/postgres-type.ts';

/** An array of one dimension that counts from 0, also when it is empty: `1 2`. */
export const writeVector =
  (type: VectorType) =>
  (out: GrowingBytes, bytes: Buffer, begin: number, end: number): void => {
    const isShort = type === 'int2vector';
    const values = bytes.toString('latin1', begin, end).split(' ').filter(Boolean).map(Number);
    out.int32(1);
    out.int32(0);
    out.int32(oidOfKind(isShort ? 'int2' : 'oid'));
    out.int32(values.length);
    out.int32(0);
    for (const value of values) {
      out.int32(isShort ? 2 : 4);
      if (isShort) out.int16(value);
      // The bits of a number of an object, which has no sign.
      else out.int32(value | 0);
    }
  };
