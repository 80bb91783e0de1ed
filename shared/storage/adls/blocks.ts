/** The digits of a block's number: all blocks of an object have names of one length. */
const DIGITS = 6;

/** The name of a block of an upload, as requests have it. */
export const blockId = (uploadId: string, number: number): string =>
  Buffer.from(`${uploadId}-${String(number).padStart(DIGITS, '0')}`).toString('base64');

/** The document that makes blocks an object. */
export const blockList = (names: readonly string[]): Buffer =>
  Buffer.from(
    `<?xml version="1.0" encoding="utf-8"?><BlockList>${names.map((name) => `<Latest>${name}</Latest>`).join('')}</BlockList>`,
  );
