import { printJson, type JsonObject } from '#shared/json.ts';

/** `PFA1`, which begins a Puffin file, and begins and ends its footer. */
const MAGIC = Buffer.from('PFA1');

/** A blob of a Puffin file. */
export type PuffinBlob = {
  readonly type: string;
  readonly fields: readonly number[];
  /** -1 when the snapshot is not known yet. */
  readonly snapshotId: bigint;
  readonly sequenceNumber: bigint;
  readonly properties: Readonly<Record<string, string>>;
  readonly content: Buffer;
};

export type PuffinFile = {
  readonly bytes: Buffer;
  /** With the magic at both ends. */
  readonly footerBytes: number;
  /** Where each blob begins. */
  readonly offsets: readonly number[];
};

/**
 * Encodes a Puffin file (Iceberg Puffin specification), without compression:
 * ```
 * PFA1 | blob | ... | PFA1, JSON of the blobs, its length, flags, PFA1
 * ```
 */
export function encodePuffin(blobs: readonly PuffinBlob[]): PuffinFile {
  let end = MAGIC.length;
  const offsets: number[] = [];
  for (const { content } of blobs) {
    offsets.push(end);
    end += content.length;
  }
  const entries = blobs.map((blob, i) => ({
    ...blobMetadata(blob),
    offset: offsets[i] ?? 0,
    length: blob.content.length,
  }));
  const payload = Buffer.from(printJson({ blobs: entries, properties: { 'created-by': 'skein' } }));
  const lengthAndFlags = Buffer.alloc(8);
  lengthAndFlags.writeInt32LE(payload.length);
  const footer = Buffer.concat([MAGIC, payload, lengthAndFlags, MAGIC]);
  const bytes = Buffer.concat([MAGIC, ...blobs.map(({ content }) => content), footer]);
  return { bytes, footerBytes: footer.length, offsets };
}

/** A blob as the footer and a table's metadata name it. */
export const blobMetadata = ({ type, fields, snapshotId, sequenceNumber, properties }: PuffinBlob): JsonObject => ({
  type,
  fields: [...fields],
  'snapshot-id': snapshotId,
  'sequence-number': sequenceNumber,
  properties,
});
