import { tableToIPC, type Table } from 'apache-arrow';
import { Message } from 'apache-arrow/ipc/metadata/message';

/** A message of rows as a client of Flight sends it. */
export type RowsMessage = { readonly data_header: Buffer; readonly data_body: Buffer };

const PREFIX_BYTES = 8;

/** The messages of a table, its schema first. */
export function rowsMessages(table: Table): readonly RowsMessage[] {
  const stream = Buffer.from(tableToIPC(table, 'stream'));
  const messages: RowsMessage[] = [];
  for (let at = 0; at + PREFIX_BYTES <= stream.length;) {
    const start = at + PREFIX_BYTES;
    const end = start + stream.readInt32LE(at + 4);
    // An empty message ends the stream.
    if (end === start) break;
    const header = Buffer.from(stream.subarray(start, end));
    const bodyEnd = end + Message.decode(new Uint8Array(header)).bodyLength;
    messages.push({ data_header: header, data_body: stream.subarray(end, bodyEnd) });
    at = bodyEnd;
  }
  return messages;
}
