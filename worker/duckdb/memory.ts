import koffi from 'koffi';
import { SkeinError } from '#shared/error.ts';
import type { Address, Memory } from './library.ts';

/**
 * Native memory, read and written by address. `koffi.view` is not used: an `ArrayBuffer` over foreign memory per buffer was three times
 * slower than a copy, and crashed the process after some thousand of them.
 */
const C_LIBRARY = process.platform === 'win32' ? 'ucrtbase.dll' : null;

const libc = koffi.load(C_LIBRARY);
const malloc = libc.func('malloc', 'void *', ['size_t']) as unknown as (bytes: number) => Address | null;
const realloc = libc.func('realloc', 'void *', ['void *', 'size_t']) as unknown as (
  block: Address | null,
  bytes: number,
) => Address | null;
const free = libc.func('free', 'void', ['void *']) as unknown as (block: Address) => void;

/**
 * A block of native memory, aligned to 16 bytes, until `freeBlock`. Threads hand blocks on by their address: nothing is copied, no
 * collector decides when they go, and a `SharedArrayBuffer` takes four times as long to make and fill.
 * @throws MEMORY_EXHAUSTED
 */
export const allocateBlock = (bytes: number): Address => allocated(malloc(Math.max(bytes, 1)));

/** The block with `bytes` bytes, elsewhere perhaps; a new one for 0n. When it cannot grow, it stays as it is. @throws MEMORY_EXHAUSTED */
export const growBlock = (block: Address, bytes: number): Address =>
  allocated(realloc(block === 0n ? null : block, bytes));

function allocated(block: Address | null): Address {
  if (block === null || block === 0n) throw new SkeinError('MEMORY_EXHAUSTED', 'the worker has no memory for a batch');
  return block;
}

export const freeBlock = (block: Address): void => free(block);

const memcpy = libc.func('memcpy', 'void *', ['void *', 'void *', 'size_t']) as unknown as (
  target: Memory,
  source: Memory,
  bytes: number,
) => Address;

/** Copies `bytes` bytes between addresses; nothing checks them. */
export function copyMemory(target: Address, source: Address, bytes: number): void {
  if (bytes > 0) memcpy(target, source, bytes);
}

/** Copies bytes of JavaScript's to an address. */
export function writeBytes(target: Address, source: Uint8Array): void {
  if (source.length > 0) memcpy(target, source, source.length);
}

/** Fills `words` from `source` on. */
export function readWords(words: BigUint64Array, source: Address, count: number): void {
  if (count > 0) memcpy(words, source, count * 8);
}

export function readBytes(source: Address, bytes: number): Uint8Array<ArrayBuffer> {
  // Not zeroed: every byte is written.
  const copy = Buffer.allocUnsafeSlow(bytes);
  if (bytes > 0) memcpy(copy, source, bytes);
  return copy;
}

/** The NUL-terminated UTF-8 text at an address; '' for a null pointer. */
export const readText = (source: Address): string => (source === 0n ? '' : koffi.decode.string(source));

/** Where a buffer of JavaScript's lies. It does not move; the caller keeps it alive while the address is in use. */
export const addressOf = (bytes: NodeJS.ArrayBufferView): Address => koffi.address(bytes);

/** The address of a C callback with the parameters `(void *, void *)` or `(void *)`; it lives as long as the thread. */
export function registerCallback(callback: (first: Address, second: Address) => void, parameters: 1 | 2): Address {
  const prototype = koffi.proto('void', parameters === 1 ? ['void *'] : ['void *', 'void *']);
  return koffi.register(callback, koffi.pointer(prototype));
}

/** Calls the `release` member of an Arrow C structure, which takes the structure's own address. */
export function callRelease(release: Address, structure: Address): void {
  if (release !== 0n) koffi.call(release, RELEASE, structure);
}

const RELEASE = koffi.proto('void', ['void *']);

/** A C function that takes a pointer and does nothing, for structures whose memory JavaScript owns. */
export const noRelease = (): Address => ABS;

const ABS = koffi.address(libc.symbol('abs'));
