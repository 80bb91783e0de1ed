import { BufferRegion, FieldNode, Message, RecordBatch } from 'apache-arrow/ipc/metadata/message';
import { printJson, type Json } from '#shared/json.ts';
import type { Encoding, ResultBatch } from './result-sink.ts';

/** Alignment of buffers in a body, as the Arrow format recommends. */
const ALIGNMENT = 64;

/** Encodes rows that the coordinator answers by itself; in Arrow every column is text. */
export function textBatch(encoding: Encoding, columns: number, rows: readonly (readonly Json[])[]): ResultBatch {
  if (encoding === 'json') {
    return { rows: rows.length, header: null, body: Buffer.from(rows.map((row) => `,${printJson(row)}`).join('')) };
  }
  const nodes: FieldNode[] = [];
  const buffers: Buffer[] = [];
  for (let i = 0; i < columns; i += 1) {
    const values = rows.map((row) => row[i] ?? null);
    const texts = values.map((value) =>
      Buffer.from(value === null ? '' : typeof value === 'string' ? value : printJson(value)),
    );
    nodes.push(new FieldNode(rows.length, values.filter((value) => value === null).length));
    buffers.push(validityOf(values), offsetsOf(texts), Buffer.concat(texts));
  }
  let bytes = 0;
  const regions = buffers.map(({ length }) => {
    const region = new BufferRegion(bytes, length);
    bytes += padded(length);
    return region;
  });
  const message = Message.from(new RecordBatch(rows.length, nodes, regions, null), bytes);
  const body = Buffer.concat(
    buffers.flatMap((buffer) => [buffer, Buffer.alloc(padded(buffer.length) - buffer.length)]),
  );
  return { rows: rows.length, header: Buffer.from(Message.encode(message)), body };
}

const padded = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/** A bit for each value, 1 unless it is NULL. */
function validityOf(values: readonly Json[]): Buffer {
  const bits = Buffer.alloc(Math.ceil(values.length / 8));
  for (const [i, value] of values.entries()) {
    if (value !== null) bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7));
  }
  return bits;
}

/** Where each text begins, and where the last one ends. */
function offsetsOf(texts: readonly Buffer[]): Buffer {
  const offsets = Buffer.alloc((texts.length + 1) * 4);
  let at = 0;
  for (const [i, text] of texts.entries()) {
    at += text.length;
    offsets.writeInt32LE(at, (i + 1) * 4);
  }
  return offsets;
}
