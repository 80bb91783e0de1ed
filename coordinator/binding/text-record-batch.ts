import { BufferRegion, FieldNode, Message, RecordBatch } from 'apache-arrow/ipc/metadata/message';

/** Texts and NULLs, one for each column. */
export type TextRow = readonly (string | null)[];

/** Alignment of buffers in a body, as the Arrow format recommends. */
const ALIGNMENT = 64;

/** Encodes rows of Utf8 columns as an Arrow record batch: the metadata of an IPC message, and its body. */
export function textRecordBatch(columns: number, rows: readonly TextRow[]): { header: Buffer; body: Buffer } {
  const nodes: FieldNode[] = [];
  const regions: BufferRegion[] = [];
  const parts: Buffer[] = [];
  let bytes = 0;
  for (let column = 0; column < columns; column += 1) {
    const texts = rows.map((row) => row[column] ?? null);
    nodes.push(new FieldNode(rows.length, texts.filter((text) => text === null).length));
    for (const buffer of textBuffers(texts)) {
      const padding = Buffer.alloc(Math.ceil(buffer.length / ALIGNMENT) * ALIGNMENT - buffer.length);
      regions.push(new BufferRegion(bytes, buffer.length));
      parts.push(buffer, padding);
      bytes += buffer.length + padding.length;
    }
  }
  const message = Message.from(new RecordBatch(rows.length, nodes, regions, null), bytes);
  return { header: Buffer.from(Message.encode(message)), body: Buffer.concat(parts) };
}

/** The buffers of a Utf8 column: validity bits, offsets, characters. */
function textBuffers(texts: readonly (string | null)[]): readonly [Buffer, Buffer, Buffer] {
  const validity = Buffer.alloc((texts.length + 7) >> 3);
  const offsets = Buffer.alloc(4 * (texts.length + 1));
  const characters: Buffer[] = [];
  let end = 0;
  for (const [i, text] of texts.entries()) {
    if (text !== null) {
      validity[i >> 3] = (validity[i >> 3] ?? 0) | (1 << (i & 7));
      const encoded = Buffer.from(text);
      characters.push(encoded);
      end += encoded.length;
    }
    offsets.writeInt32LE(end, 4 * (i + 1));
  }
  return [validity, offsets, Buffer.concat(characters)];
}
