import { inThread } from '#shared/thread/work.ts';
import { readCopiedRows } from './read-rows.ts';
import type { ReadRows } from './row-format.ts';

/** Reads many rows in a worker thread. */
export const readManyRows = inThread(readCopiedRows, ({ lines, columns }: ReadRows) => [
  bytesOf(lines),
  ...columns.flatMap(({ validity, offsets, data, lists }) => [
    validity,
    bytesOf(offsets),
    data,
    ...(lists === null ? [] : [lists.validity, bytesOf(lists.offsets)]),
  ]),
]);

const bytesOf = ({ buffer }: Int32Array): Uint8Array => new Uint8Array(buffer);
