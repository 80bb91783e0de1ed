import koffi from 'koffi';
import type { Address, Memory } from './library.ts';

/**
 * Native memory, read and written by address. `koffi.view` is not used: an `ArrayBuffer` over foreign memory per buffer was three times
 * slower than a copy, and crashed the process after some thousand of them.
 */
const C_LIBRARY = process.platform === 'win32' ? 'ucrtbase.dll' : null;

const memcpy = koffi.load(C_LIBRARY).func('memcpy', 'void *', ['void *', 'void *', 'size_t']) as unknown as (
  target: Memory,
  source: Memory,
  bytes: number,
) => Address;

/** Copies `bytes` bytes between addresses; nothing checks them. */
export function copyMemory(target: Address, source: Address, bytes: number): void {
  if (bytes > 0) memcpy(target, source, bytes);
}

/** Fills `words` from `source` on. */
export function readWords(words: BigUint64Array, source: Address, count: number): void {
  if (count > 0) memcpy(words, source, count * 8);
}

export function readBytes(source: Address, bytes: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(bytes);
  if (bytes > 0) memcpy(copy, source, bytes);
  return copy;
}

/** The NUL-terminated UTF-8 text at an address; '' for a null pointer. */
export const readText = (source: Address): string => (source === 0n ? '' : koffi.decode.string(source));

/** Where a buffer of JavaScript's lies. It does not move; the caller keeps it alive while the address is in use. */
export const addressOf = (bytes: Uint8Array | BigUint64Array): Address => koffi.address(bytes);

/** A C callback with the parameters `(void *, void *)` or `(void *)`; it lives until the returned function is called. */
export function registerCallback(
  callback: (first: Address, second: Address) => void,
  parameters: 1 | 2,
): { readonly address: Address; release(): void } {
  const prototype = koffi.proto('void', parameters === 1 ? ['void *'] : ['void *', 'void *']);
  const address = koffi.register(callback, koffi.pointer(prototype));
  return { address, release: () => koffi.unregister(address) };
}

/** Calls the `release` member of an Arrow C structure, which takes the structure's own address. */
export function callRelease(release: Address, structure: Address): void {
  if (release !== 0n) koffi.call(release, RELEASE, structure);
}

const RELEASE = koffi.proto('void', ['void *']);

/** A C function that takes a pointer and does nothing, for structures whose memory JavaScript owns. */
export const noRelease = (): Address => ABS;

const ABS = koffi.address(koffi.load(C_LIBRARY).symbol('abs'));
