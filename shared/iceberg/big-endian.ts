/** Returns the integer of big-endian two's complement bytes; no bytes give 0. */
export function integerOfBytes(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  const unsigned = BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`);
  return BigInt.asIntN(bytes.length * 8, unsigned);
}

/** Returns an integer as big-endian two's complement: the fewest bytes (as Java's `BigInteger.toByteArray`), or exactly `width`. */
export function bytesOfInteger(value: bigint, width?: number): Uint8Array {
  const magnitude = value < 0n ? ~value : value;
  const length = width ?? Math.floor(magnitude.toString(2).length / 8) + 1;
  const hex = BigInt.asUintN(length * 8, value)
    .toString(16)
    .padStart(length * 2, '0');
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}
