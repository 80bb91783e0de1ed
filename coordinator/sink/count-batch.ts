import { BufferRegion, FieldNode, Message, RecordBatch } from 'apache-arrow/ipc/metadata/message';
import type { Encoding, OutputColumn, ResultBatch } from './result-sink.ts';

/** The result of a statement that changes rows: how many. */
export const COUNT_COLUMNS: readonly OutputColumn[] = [
  { name: 'count', typeName: 'BIGINT', type: { kind: 'scalar', name: 'BIGINT' } },
];

export function countBatch(encoding: Encoding, count: number): ResultBatch {
  if (encoding === 'json') return { rows: 1, header: null, body: Buffer.from(`,[${count}]`) };
  const body = Buffer.alloc(8);
  body.writeBigInt64LE(BigInt(count));
  // No validity bits: the value is not NULL.
  const batch = new RecordBatch(
    1,
    [new FieldNode(1, 0)],
    [new BufferRegion(0, 0), new BufferRegion(0, body.length)],
    null,
  );
  return { rows: 1, header: Buffer.from(Message.encode(Message.from(batch, body.length))), body };
}
