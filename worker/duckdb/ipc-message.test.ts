import { BufferRegion, FieldNode, Message, RecordBatch } from 'apache-arrow/ipc/metadata/message';
import { expect, test } from 'vitest';
import { readBatch } from './ipc-message.ts';

const BODY_BYTES = 64;
const read = (offset: number, length: number) => {
  const batch = new RecordBatch(1, [new FieldNode(1, 0)], [new BufferRegion(offset, length)], null);
  const body = { address: 4_096n, bytes: BODY_BYTES, owner: undefined };
  return readBatch(Message.encode(Message.from(batch, BODY_BYTES)), body);
};

test('a buffer lies inside of the body', () => {
  expect(read(8, 56).buffers).toEqual([{ address: 4_104n, bytes: 56, owner: undefined }]);
});

test.each([
  ['past its end', 8, 57],
  ['before its start', -8, 8],
  ['with less than nothing in it', 16, -8],
])('a buffer %s is refused', (_where, offset, length) => {
  expect(() => read(offset, length)).toThrow(expect.objectContaining({ code: 'INTERNAL_ERROR' }) as Error);
});
