import { DataType, type Schema } from 'apache-arrow';
import { FieldNode, Message, RecordBatch } from 'apache-arrow/ipc/metadata/message';
import { must } from '#shared/must.ts';
import { arrowSchema } from './arrow-schema.ts';
import type { ResultBatch, RowShape } from './result-sink.ts';

const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\[]{}');

/** The first rows of a batch of JSON, whose rows are arrays. */
export function cutJson({ body }: ResultBatch, rows: number): ResultBatch {
  let [depth, left, isText] = [0, rows, false];
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (isText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === OPEN || byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE || byte === CLOSE_OBJECT) {
      depth -= 1;
      if (depth > 0) continue;
      left -= 1;
      if (left === 0) return { rows, header: null, body: body.subarray(0, at + 1) };
    }
  }
  throw new Error('invariant: a batch has as many rows as it says');
}

/**
 * The first rows of a record batch: only its header is written anew. Its buffers stay as they are, longer than they must be, as Arrow allows.
 */
export function cutArrow({ header, body }: ResultBatch, rows: number, shape: RowShape): ResultBatch {
  const message = Message.decode(new Uint8Array(must(header, 'a record batch has a header')));
  if (!message.isRecordBatch()) throw new Error('invariant: a batch is a record batch');
  const batch = message.header();
  const nodes = new CutNodes(batch, body).all(arrowSchema(shape), rows);
  const cut = new RecordBatch(rows, [...nodes], batch.buffers, null);
  return { rows, header: Buffer.from(Message.encode(Message.from(cut, message.bodyLength))), body };
}

/** The lengths and counts of NULLs of a batch's columns and of what is in them, in the order of the format: parents before children. */
class CutNodes {
  readonly #batch: RecordBatch;
  readonly #body: Buffer;
  readonly #nodes: FieldNode[] = [];
  #buffer = 0;

  constructor(batch: RecordBatch, body: Buffer) {
    this.#batch = batch;
    this.#body = body;
  }

  all({ fields }: Schema, rows: number): readonly FieldNode[] {
    for (const { type } of fields) this.#add(type, rows);
    return this.#nodes;
  }

  /** `rows`: null = as many as there are, because the offsets of a list say which are meant. */
  #add(type: DataType, rows: number | null): void {
    const node = must(this.#batch.nodes[this.#nodes.length], 'a node for each column');
    const length = rows ?? node.length;
    const nulls = rows === null || node.nullCount === 0 ? node.nullCount : this.#nulls(length);
    this.#nodes.push(new FieldNode(length, nulls));
    this.#buffer += buffersOf(type);
    const below = DataType.isList(type) || DataType.isMap(type) ? null : length * (listSizeOf(type) ?? 1);
    for (const child of type.children ?? []) this.#add(child.type, below);
  }

  /** NULLs among the first values of the column whose bits of validity are next. */
  #nulls(length: number): number {
    const { offset, length: bytes } = must(this.#batch.buffers[this.#buffer], 'the bits of validity');
    const bits = this.#body.subarray(offset, offset + bytes);
    let nulls = 0;
    for (let row = 0; row < length; row += 1) if (!(((bits[row >> 3] ?? 0) >> (row & 7)) & 1)) nulls += 1;
    return nulls;
  }
}

const listSizeOf = (type: DataType): number | undefined => (DataType.isFixedSizeList(type) ? type.listSize : undefined);

/** Buffers of a column itself, without those of its children. */
function buffersOf(type: DataType): number {
  if (DataType.isUtf8(type) || DataType.isBinary(type)) return 3;
  return DataType.isStruct(type) || DataType.isFixedSizeList(type) || DataType.isUnion(type) ? 1 : 2;
}
