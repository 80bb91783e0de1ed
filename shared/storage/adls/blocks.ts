/** The digits of a block's number: all blocks of an object have names of one length. */
const DIGITS = 6;

/** The name of a block of an upload, as requests have it. */
export const blockId = (uploadId: string, number: number): string =>
  Buffer.from(`${uploadId}-${String(number).padStart(DIGITS, '0')}`).toString('base64');

/** The number of an upload's block; undefined for a block of another. */
export function blockNumber(uploadId: string, name: string): number | undefined {
  const text = Buffer.from(name, 'base64').toString();
  const number = text.startsWith(`${uploadId}-`) ? Number(text.slice(uploadId.length + 1)) : 0;
  return Number.isSafeInteger(number) && number > 0 && blockId(uploadId, number) === name ? number : undefined;
}

/** The document that makes blocks an object. */
export const blockList = (names: readonly string[]): Buffer =>
  Buffer.from(
    `<?xml version="1.0" encoding="utf-8"?><BlockList>${names.map((name) => `<Latest>${name}</Latest>`).join('')}</BlockList>`,
  );
