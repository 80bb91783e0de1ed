import { randomBytes } from 'node:crypto';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Returns a new UUID of version 7 (RFC 9562): the time in milliseconds, then random bits. */
export function newUuidV7(nowMs: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Returns the creation time of a UUID of version 7 in milliseconds; undefined for any other text. */
export const timeOfUuidV7 = (text: string): number | undefined =>
  UUID_V7.test(text) ? Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16) : undefined;
