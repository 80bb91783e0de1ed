import type { Address } from './library.ts';
import { addressOf, copyMemory } from './memory.ts';

/** Bytes of a batch; `owner` keeps them alive when they are JavaScript memory. */
export type ArrowBuffer = { readonly address: Address; readonly bytes: number; readonly owner: unknown };

/** Zeros: as many as the padding of a buffer in a body can need. */
const NOTHING = new Uint8Array(64);
/** A buffer without bytes whose address is readable; zeros lie there. */
export const NO_BYTES: ArrowBuffer = { address: addressOf(NOTHING), bytes: 0, owner: NOTHING };

export const arrowBuffer = (bytes: Uint8Array): ArrowBuffer =>
  bytes.length === 0 ? NO_BYTES : { address: addressOf(bytes), bytes: bytes.length, owner: bytes };

/** Copies a buffer into a JavaScript array. */
export function readBuffer({ address, bytes }: ArrowBuffer, target: Uint8Array, at: number): void {
  if (at + bytes > target.length) throw new Error('invariant: the target has room for the buffer');
  if (bytes > 0) copyMemory(addressOf(target) + BigInt(at), address, bytes);
}
