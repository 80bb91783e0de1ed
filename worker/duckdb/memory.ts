import { koffi } from '#shared/native/koffi.ts';
import { joinEnds } from '#shared/cut-text.ts';
import { SkeinError } from '#shared/error.ts';
import type { Address, Memory } from './library.ts';

/**
 * Native memory, read and written by address. `koffi.view` is not used: creating an `ArrayBuffer` over foreign memory was three times
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
 * Allocates a block of native memory, aligned to 16 bytes, which lives until `freeBlock`. Threads pass blocks by address: nothing is
 * copied, no garbage collector decides when they are freed, and a `SharedArrayBuffer` takes four times as long to create and fill.
 * @throws MEMORY_EXHAUSTED
 */
export const allocateBlock = (bytes: number): Address => allocated(malloc(Math.max(bytes, 1)));

/** Resizes a block, which may move it; allocates one for 0n. When that fails, the block is unchanged. @throws MEMORY_EXHAUSTED */
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

/** Copies `bytes` bytes between addresses, without any checks. */
export function copyMemory(target: Address, source: Address, bytes: number): void {
  if (bytes > 0) memcpy(target, source, bytes);
}

/** Copies a JavaScript array to an address. */
export function writeBytes(target: Address, source: Uint8Array): void {
  if (source.length > 0) memcpy(target, source, source.length);
}

/** Reads `count` words at `source` into `words`. */
export function readWords(words: BigUint64Array, source: Address, count: number): void {
  if (count > 0) memcpy(words, source, count * 8);
}

export function readBytes(source: Address, bytes: number): Uint8Array<ArrayBuffer> {
  // Not zeroed, because every byte is overwritten.
  const copy = Buffer.allocUnsafeSlow(bytes);
  if (bytes > 0) memcpy(copy, source, bytes);
  return copy;
}

/** The NUL-terminated UTF-8 text at an address; '' for a null pointer. */
export const readText = (source: Address): string => (source === 0n ? '' : koffi.decode.string(source));

const strlen = libc.func('strlen', 'size_t', ['void *']) as unknown as (source: Address) => number | bigint;

/** Reads text like `readText`, shortened like `cutText`: at most `bytesMax` bytes of either end are copied, however long it is. */
export function readCutText(source: Address, bytesMax: number): string {
  if (source === 0n) return '';
  const bytes = Number(strlen(source));
  if (bytes <= bytesMax) return new TextDecoder().decode(readBytes(source, bytes));
  const last = readBytes(source + BigInt(bytes - bytesMax), bytesMax);
  return joinEnds(readBytes(source, bytesMax), last, bytes, bytesMax);
}

/** Address of a JavaScript buffer. The buffer does not move; the caller keeps it alive while the address is in use. */
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
