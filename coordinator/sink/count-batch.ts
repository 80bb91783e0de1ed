import { BufferRegion, FieldNode, Message, RecordBatch } from 'apache-arrow/ipc/metadata/message';
import type { Encoding, OutputColumn, ResultBatch } from './result-sink.ts';

/** Columns of BIGINT. */
export const numberColumns = (names: readonly string[]): readonly OutputColumn[] =>
  names.map((name) => ({ name, typeName: 'BIGINT', type: { kind: 'scalar', name: 'BIGINT' } }));

/** The result of a statement that changes rows: how many. */
export const COUNT_COLUMNS: readonly OutputColumn[] = numberColumns(['count']);

const VALUE_BYTES = 8;

/** One row of BIGINTs. */
export function numbersBatch(encoding: Encoding, values: readonly number[]): ResultBatch {
  if (encoding === 'json') return { rows: 1, header: null, body: Buffer.from(`,${JSON.stringify(values)}`) };
  const body = Buffer.alloc(VALUE_BYTES * values.length);
  for (const [i, value] of values.entries()) body.writeBigInt64LE(BigInt(value), i * VALUE_BYTES);
  const batch = new RecordBatch(
    1,
    values.map(() => new FieldNode(1, 0)),
    // No validity bits: no value is NULL.
    values.flatMap((_, i) => [new BufferRegion(0, 0), new BufferRegion(i * VALUE_BYTES, VALUE_BYTES)]),
    null,
  );
  return { rows: 1, header: Buffer.from(Message.encode(Message.from(batch, body.length))), body };
}
