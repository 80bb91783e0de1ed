import { tableFromIPC, type RecordBatch } from 'apache-arrow';
import { Message } from 'apache-arrow/ipc/metadata/message';
import { must } from '#shared/must.ts';
import { arrowSchema } from '../sink/arrow-schema.ts';
import { endOfStream, framed } from '../sink/ipc-frame.ts';
import type { ResultBatch, RowShape } from '../sink/result-sink.ts';

/** Decodes the record batches of a result; undefined for one without rows. The last one is kept. */
export function batchDecoder(shape: RowShape): (batch: ResultBatch) => RecordBatch | undefined {
  const schema = framed(Buffer.from(Message.encode(Message.from(arrowSchema(shape)))));
  let last: { readonly of: ResultBatch; readonly decoded: RecordBatch | undefined } | undefined;
  return (batch) => {
    if (last?.of === batch) return last.decoded;
    const { header, body } = batch;
    const stream = [schema, framed(must(header, 'a record batch has a header')), body, endOfStream()];
    last = { of: batch, decoded: tableFromIPC(Buffer.concat(stream)).batches[0] };
    return last.decoded;
  };
}
