import type { Address } from './library.ts';
import { freeBlock, growBlock } from './memory.ts';

const CAPACITY_MIN = 64;

/** Native memory that grows at its end. It is not JavaScript's: V8 would keep each until it next collects, megabytes per task. */
export class GrowBuffer implements Disposable {
  #start: Address = 0n;
  #capacityBytes = 0;

  /** Makes room for `sizeBytes` in all; what is there stays, elsewhere perhaps. @throws MEMORY_EXHAUSTED */
  reserve(sizeBytes: number): void {
    if (sizeBytes <= this.#capacityBytes) return;
    const capacityBytes = Math.max(sizeBytes, this.#capacityBytes * 2, CAPACITY_MIN);
    this.#start = growBlock(this.#start, capacityBytes);
    this.#capacityBytes = capacityBytes;
  }

  /** The address of a byte for which there is room. */
  at(byteOffset: number): Address {
    return this.#start + BigInt(byteOffset);
  }

  [Symbol.dispose](): void {
    if (this.#capacityBytes > 0) freeBlock(this.#start);
    this.#start = 0n;
    this.#capacityBytes = 0;
  }
}
