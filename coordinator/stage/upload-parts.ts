import { SkeinError } from '#shared/error.ts';
import type { StageUpload } from '../catalog-client/stage-catalog.ts';

/** A part that the client says it has sent, with the ETag that it was answered. */
export type SentPart = { readonly number: number; readonly etag: string };

/** A part's file has its number and its ETag, so that the folder of an upload says what has come. */
export const partName = (number: number, etag: string): string => `part-${number}-${etag}`;

/** The files of the parts. @throws INVALID_REQUEST */
export function checkUploadParts(
  { partBytes, sizeBytes }: StageUpload,
  parts: readonly SentPart[],
  files: ReadonlyMap<string, number>,
): readonly string[] {
  if (parts.length === 0) throw invalid('an upload has at least one part');
  for (const [i, { number }] of parts.entries()) {
    const before = parts[i - 1]?.number ?? 0;
    if (number === before) throw invalid(`part ${number} stands twice`);
    if (number < before) throw invalid(`part ${number} stands behind part ${before}`);
  }
  const sizes = parts.map(({ number, etag }, i) => {
    const size = files.get(partName(number, etag));
    if (size === undefined) throw invalid(`part ${number} with the ETag ${etag.slice(0, 64)} has not come`);
    if (size !== partBytes && i < parts.length - 1) {
      throw invalid(`part ${number} has ${size} bytes; every part but the last has ${partBytes}`);
    }
    return size;
  });
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (sizeBytes !== null && bytes !== sizeBytes) {
    throw invalid(`the parts have ${bytes} bytes, and the file was to have ${sizeBytes}`);
  }
  return parts.map(({ number, etag }) => partName(number, etag));
}

const invalid = (message: string): SkeinError => new SkeinError('INVALID_REQUEST', message);
