/** CRC-32C (Castagnoli), as Google's store keeps it of every object, in base64 with the highest byte first. */
export function crc32c(bytes: Uint8Array): string {
  let crc = ~0;
  for (let i = 0; i < bytes.length; i++) crc = (TABLE[(crc ^ (bytes[i] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(~crc >>> 0);
  return sum.toString('base64');
}

/** The polynomial 0x1EDC6F41 with its bits reversed. */
const POLYNOMIAL = 0x82f63b78;

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  return crc;
});
