import { arrowBuffer, type ArrowBuffer } from '#worker/duckdb/arrow-buffer.ts';
import { ArrowInput, type ArrowBatch } from '#worker/duckdb/arrow-in.ts';
import { InputCallbacks, InputFunctions, inputName } from '#worker/duckdb/input-functions.ts';
import { Instance } from '#worker/duckdb/instance.ts';
import { readMessage, readSchema } from '#worker/duckdb/ipc-message.ts';
import { must } from '#shared/must.ts';
import { tableFromIPC } from 'apache-arrow';
import { queryArrow } from './duckdb-ipc.ts';

/** Lets DuckDB print the values of an Arrow IPC stream, without dictionaries; NULL is null. */
export function printIpc(stream: Buffer, timeZone: string): readonly (readonly (string | null)[])[] {
  const [schema, ...batches] = messagesOf(stream);
  const fields = readSchema(must(schema, 'a schema').header).map((field, i) => ({ ...field, name: `c${i}` }));
  using instance = Instance.open({ threads: '1' });
  using connection = instance.connect();
  connection.run(`SET TimeZone = '${timeZone}'`);
  const read = batches.map(({ header, body }): ArrowBatch => {
    const message = readMessage(header);
    if (!message.isRecordBatch()) throw new Error('no record batch');
    const { nodes, buffers, length } = message.header();
    const parts = buffers.map((at): ArrowBuffer => arrowBuffer(body.slice(at.offset, at.offset + at.length)));
    return { rows: length, nodes, buffers: parts };
  });
  const rows = read.reduce((sum, batch) => sum + batch.rows, 0);
  using input = new ArrowInput(connection, { fields, dictionaries: [], rows, batches: read });
  const functions = new InputFunctions(connection, new InputCallbacks());
  functions.set(0, input);
  const texts = fields.map((_, i) => `c${i}::VARCHAR AS c${i}`).join(', ');
  const printed = tableFromIPC(queryArrow(connection, `SELECT ${texts} FROM ${inputName(0)}()`, instance).stream);
  return printed.toArray().map((row: { toJSON(): object }) => Object.values(row.toJSON()) as (string | null)[]);
}

type Message = { readonly header: Buffer; readonly body: Uint8Array };

function messagesOf(stream: Buffer): readonly Message[] {
  const found: Message[] = [];
  for (let at = 0; ;) {
    const length = stream.readUInt32LE(at + 4);
    if (stream.readUInt32LE(at) !== 0xff_ff_ff_ff) throw new Error('no message');
    if (length === 0) {
      if (at + 8 !== stream.length) throw new Error('bytes behind the end');
      return found;
    }
    const header = stream.subarray(at + 8, at + 8 + length);
    const { bodyLength } = readMessage(header);
    const body = new Uint8Array(stream.subarray(at + 8 + length, at + 8 + length + bodyLength));
    found.push({ header, body });
    at += 8 + length + bodyLength;
  }
}
