import { Field, Int32, MessageHeader, Schema, SparseUnion, Utf8 } from 'apache-arrow';
import { Message } from 'apache-arrow/ipc/metadata/message';
import { expect, test } from 'vitest';
import { RecordBatchReader } from './record-batch-reader.ts';

const NOTHING = Buffer.alloc(0);
const union = new SparseUnion([0, 1], [new Field('n', new Int32(), true), new Field('s', new Utf8(), true)]);
const schema = new Schema([new Field('v', union, true)]);

test.each([0, 1, 2, 3, 4, 5, 6, 7])('a schema is read wherever it lies: %i bytes into what was sent', (offset) => {
  const message = Message.encode(new Message(0n, 4, MessageHeader.Schema, schema));
  const sent = Buffer.alloc(offset + message.length);
  sent.set(message, offset);
  const reader = new RecordBatchReader(schema);
  expect(reader.read({ header: sent.subarray(offset), metadata: NOTHING, body: NOTHING })).toBeUndefined();
});
