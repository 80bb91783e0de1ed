import { RecordBatch as BatchHeader, Message } from 'apache-arrow/ipc/metadata/message';
import { VectorAssembler } from 'apache-arrow/visitor/vectorassembler';
import { must } from '#shared/must.ts';
import type { ResultBatch, RowShape } from '../sink/result-sink.ts';
import { batchDecoder } from './decode-batch.ts';

/** Alignment of buffers in the body of a record batch. */
const ALIGNMENT = 8;

/** Cuts rows out of kept record batches: those of a batch from `first` up to `end`. */
export function batchSlicer(shape: RowShape): (batch: ResultBatch, first: number, end: number) => ResultBatch {
  const decode = batchDecoder(shape);
  return (batch, first, end) => {
    if (first === 0 && end === batch.rows) return batch;
    const cut = must(decode(batch), 'a batch has rows').slice(first, end);
    const { byteLength, nodes, bufferRegions, buffers } = VectorAssembler.assemble(cut);
    const header = new BatchHeader(cut.numRows, nodes, bufferRegions, null);
    const parts = buffers.flatMap((buffer) => {
      const bytes = Buffer.from(buffer.buffer, buffer.byteOffset, buffer.byteLength);
      return [bytes, Buffer.alloc(Math.ceil(bytes.length / ALIGNMENT) * ALIGNMENT - bytes.length)];
    });
    return {
      rows: cut.numRows,
      header: Buffer.from(Message.encode(Message.from(header, byteLength))),
      body: Buffer.concat(parts),
    };
  };
}
