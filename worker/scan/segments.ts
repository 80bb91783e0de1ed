import type { ByteRange } from '#shared/iceberg/scan-file.ts';
import { TRAILER_BYTES, type FileField, type Footer, type RowGroup } from './footer.ts';

/**
 * A Parquet file in segments: each column chunk with what stands behind it, and what stands behind all of them, filters and the footer.
 *
 * ```
 * PAR1 | chunk | chunk | ... | chunk | filters | footer
 *      ^       ^       ^             ^         ^         borders
 * ```
 *
 * Readers of some columns fetch whole segments, and writers have told the store the checksum of each.
 */

/** The bytes behind the chunks are one segment if they are no more than these; a longer one is divided before the footer. */
const END_BYTES_MAX = 2 ** 20;

/** The borders of a file's segments, ascending, its begin and end included; undefined when the footer does not say where its chunks lie. */
export function bordersOf({ rowGroups, sizeBytes, metadataBytes, isPlaced }: Footer): Float64Array | undefined {
  if (!isPlaced) return undefined;
  const metadataAt = sizeBytes - TRAILER_BYTES - metadataBytes;
  const borders = new Set([0, sizeBytes]);
  let endAt = 0;
  for (const { starts, bytes } of rowGroups) {
    for (const [leaf, start] of starts.entries()) {
      const end = start + (bytes[leaf] ?? 0);
      if (end > metadataAt) return undefined;
      borders.add(start);
      endAt = Math.max(endAt, end);
    }
  }
  borders.add(endAt);
  if (metadataAt - endAt > END_BYTES_MAX) borders.add(metadataAt);
  return Float64Array.from(borders).sort();
}

/**
 * The bytes that DuckDB may read of a file: the column chunks of some row groups, the Bloom filters of these columns in all of them, because
 * it looks at a filter before it leaves a row group out, and the footer.
 */
export function bytesRead(
  footer: Footer,
  { groups, fields }: { readonly groups: readonly RowGroup[]; readonly fields: readonly FileField[] },
): readonly ByteRange[] {
  const { sizeBytes, metadataBytes, bloomed } = footer;
  const read: ByteRange[] = [{ start: sizeBytes - TRAILER_BYTES - metadataBytes, end: sizeBytes }];
  for (const { leaves } of fields) {
    for (let leaf = leaves.first; leaf < leaves.end; leaf++) {
      for (const { starts, bytes } of groups) {
        const start = starts[leaf] ?? 0;
        read.push({ start, end: start + (bytes[leaf] ?? 0) });
      }
      // Where the length is not known, the segment's end is the filter's.
      for (const { at, length } of bloomed.get(leaf) ?? []) read.push({ start: at, end: at + (length ?? 1) });
    }
  }
  return read;
}
