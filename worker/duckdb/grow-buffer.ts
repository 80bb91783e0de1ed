import type { Address } from './library.ts';
import { addressOf } from './memory.ts';

/** Bytes that grow at their end and know their address. */
export class GrowBuffer {
  bytes: Uint8Array<ArrayBuffer>;
  address: Address;
  int32: Int32Array<ArrayBuffer>;
  int64: BigInt64Array<ArrayBuffer>;

  constructor(capacityBytes: number) {
    this.bytes = new Uint8Array(roundUp(capacityBytes));
    this.address = addressOf(this.bytes);
    this.int32 = new Int32Array(this.bytes.buffer);
    this.int64 = new BigInt64Array(this.bytes.buffer);
  }

  /** Makes room for `sizeBytes` in all; what is there stays. */
  reserve(sizeBytes: number): void {
    if (sizeBytes <= this.bytes.length) return;
    const larger = new GrowBuffer(Math.max(sizeBytes, this.bytes.length * 2));
    larger.bytes.set(this.bytes);
    this.bytes = larger.bytes;
    this.address = larger.address;
    this.int32 = larger.int32;
    this.int64 = larger.int64;
  }
}

const roundUp = (bytes: number): number => (Math.max(bytes, 64) + 7) & ~7;
