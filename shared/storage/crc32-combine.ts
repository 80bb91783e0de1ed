/** The polynomial of CRC-32, reflected. */
const POLYNOMIAL = 0xedb88320;

/** A linear map of 32 bits: the images of the bits, the lowest first. */
type BitMap = readonly number[];

/**
 * The CRC-32 of two texts of bytes, one behind the other, from the checksums of both: zeros for the second are appended to the first
 * (zlib's `crc32_combine`). Pieces of a file that come in any order have the checksum of the file so.
 */
export function crc32Combine(first: number, second: number, secondBytes: number): number {
  if (secondBytes <= 0) return first;
  // Appends one zero bit, then two, four, eight = one byte.
  let zeros = square(square(square(ONE_BIT)));
  let crc = first;
  for (let bytes = secondBytes; bytes > 0; bytes = Math.floor(bytes / 2)) {
    if (bytes % 2 === 1) crc = image(zeros, crc);
    zeros = square(zeros);
  }
  return (crc ^ second) >>> 0;
}

const ONE_BIT: BitMap = [POLYNOMIAL, ...Array.from({ length: 31 }, (_, bit) => 2 ** bit)];

function image(map: BitMap, vector: number): number {
  let sum = 0;
  for (let bit = 0, rest = vector; rest !== 0; bit++, rest >>>= 1) if ((rest & 1) === 1) sum ^= map[bit] ?? 0;
  return sum >>> 0;
}

const square = (map: BitMap): BitMap => map.map((vector) => image(map, vector));
