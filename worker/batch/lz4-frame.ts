/** The LZ4 frame format (lz4_Frame_format.md). */
const MAGIC = 0x18_4d_22_04;
const VERSION = 0b0100_0000;
const VERSION_BITS = 0b1100_0000;
const BLOCK_CHECKSUMS = 0b1_0000;
const HAS_SIZE = 0b1000;
const HAS_CHECKSUM = 0b100;
const HAS_DICTIONARY = 0b1;
const CHECKSUM_BYTES = 4;
const SIZE_BYTES = 8;
/** Mask of a block's length; the highest bit marks an uncompressed block. */
const LENGTH_BITS = 0x7f_ff_ff_ff;

/**
 * Upper bound of a frame's uncompressed size: the number of its blocks times the block size of its header. Trusting the length that stands
 * before the frame would let a few bytes allocate any amount of memory. Undefined when the bytes are not exactly one frame.
 */
export function unpackedBytesMax(frame: Uint8Array): number | undefined {
  const bytes = new DataView(frame.buffer, frame.byteOffset, frame.length);
  if (frame.length < 7 || bytes.getUint32(0, true) !== MAGIC) return undefined;
  const flags = bytes.getUint8(4);
  const sizeCode = (bytes.getUint8(5) >> 4) & 7;
  if ((flags & VERSION_BITS) !== VERSION || (flags & HAS_DICTIONARY) !== 0 || sizeCode < 4) return undefined;
  const blockBytesMax = 2 ** (2 * sizeCode + 8);
  const trailerBytes = (flags & BLOCK_CHECKSUMS) === 0 ? 0 : CHECKSUM_BYTES;
  let at = 7 + ((flags & HAS_SIZE) === 0 ? 0 : SIZE_BYTES);
  for (let blocks = 0; at + 4 <= frame.length; blocks++) {
    const length = bytes.getUint32(at, true) & LENGTH_BITS;
    at += 4;
    if (length === 0) {
      const end = at + ((flags & HAS_CHECKSUM) === 0 ? 0 : CHECKSUM_BYTES);
      return end === frame.length ? blocks * blockBytesMax : undefined;
    }
    at += length + trailerBytes;
  }
  return undefined;
}
