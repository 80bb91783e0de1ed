import type { Address } from './library.ts';
import { freeBlock, growBlock } from './memory.ts';

const CAPACITY_MIN = 64;

/** A growable native buffer. V8 would keep JavaScript memory until its next garbage collection: megabytes per task. */
export class GrowBuffer implements Disposable {
  #start: Address = 0n;
  #capacityBytes = 0;

  /** Grows the capacity to at least `sizeBytes`, which may move the contents. @throws MEMORY_EXHAUSTED */
  reserve(sizeBytes: number): void {
    if (sizeBytes <= this.#capacityBytes) return;
    const capacityBytes = Math.max(sizeBytes, this.#capacityBytes * 2, CAPACITY_MIN);
    this.#start = growBlock(this.#start, capacityBytes);
    this.#capacityBytes = capacityBytes;
  }

  /** Address of a byte within the capacity. */
  at(byteOffset: number): Address {
    return this.#start + BigInt(byteOffset);
  }

  [Symbol.dispose](): void {
    if (this.#capacityBytes > 0) freeBlock(this.#start);
    this.#start = 0n;
    this.#capacityBytes = 0;
  }
}
