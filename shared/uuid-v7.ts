import { randomUUID } from 'node:crypto';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Returns a new UUID of version 7 (RFC 9562): the time, in whole milliseconds since 1970, then random bits. */
export function newUuidV7(nowMs: number): string {
  const time = nowMs.toString(16).padStart(12, '0');
  // One of version 4 has random bits, and the variant, behind its version.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** Returns the creation time of a UUID of version 7 in milliseconds; undefined for any other text. */
export const timeOfUuidV7 = (text: string): number | undefined =>
  UUID_V7.test(text) ? Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16) : undefined;
