import { Message } from 'apache-arrow/ipc/metadata/message';
import { must } from '#shared/must.ts';
import type { ResultBatch } from '../../../sink/result-sink.ts';

/** How the values of a column lie in an Arrow record batch. */
export type ArrowLayout =
  | { readonly kind: 'bits' }
  | { readonly kind: 'fixed' }
  | { readonly kind: 'varying' }
  | { readonly kind: 'list'; readonly element: ArrowLayout };

/** A column as it lies in a record batch. `nulls`: a bit for each value that is there; null = all are. */
export type ArrowColumn = {
  readonly nulls: Uint8Array | null;
  /** Where each value begins in `data` or `items`; of those that vary, and of lists. */
  readonly offsets: Int32Array;
  readonly data: Buffer;
  readonly items: ArrowColumn | null;
};

const ALIGNMENT = 8;
const NO_OFFSETS = new Int32Array(1);
const NO_BYTES = Buffer.alloc(0);

/** The columns of a record batch, without a copy of their values; `RecordBatchReader` has checked its types and bounds. */
export function arrowColumns({ header, body }: ResultBatch, layouts: readonly ArrowLayout[]): readonly ArrowColumn[] {
  const message = Message.decode(new Uint8Array(must(header, 'a record batch has a header')));
  if (!message.isRecordBatch()) throw new Error('invariant: a record batch comes');
  const { buffers } = message.header();
  const aligned = body.byteOffset % ALIGNMENT === 0 ? body : Buffer.from(new Uint8Array(body).buffer);
  let at = 0;
  const next = (): Buffer => {
    const { offset, length } = must(buffers[at], 'a column has its buffers');
    at += 1;
    return aligned.subarray(offset, offset + length);
  };
  const read = (layout: ArrowLayout): ArrowColumn => {
    const validity = next();
    const nulls = validity.length === 0 ? null : validity;
    if (layout.kind === 'bits' || layout.kind === 'fixed') {
      return { nulls, offsets: NO_OFFSETS, data: next(), items: null };
    }
    const bytes = next();
    const offsets =
      bytes.length === 0 ? NO_OFFSETS : new Int32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 4));
    if (layout.kind === 'varying') return { nulls, offsets, data: next(), items: null };
    return { nulls, offsets, data: NO_BYTES, items: read(layout.element) };
  };
  return layouts.map(read);
}

/** Whether a value is there. */
export const isPresent = (nulls: Uint8Array | null, i: number): boolean =>
  nulls === null || (((nulls[i >> 3] ?? 0) >> (i & 7)) & 1) === 1;
