import { Message } from 'apache-arrow/ipc/metadata/message';
import { arrowBuffer, readBuffer, type ArrowBuffer } from '#worker/duckdb/arrow-buffer.ts';
import type { ArrowBatch } from '#worker/duckdb/arrow-in.ts';
import { ArrowForm, ArrowWriter, paddedBytes, schemaMessage, type ArrowMessage } from '#worker/duckdb/arrow-out.ts';
import type { ArrowField } from '#worker/duckdb/arrow-schema.ts';
import { must } from '#shared/must.ts';
import type { Connection, Instance } from '#worker/duckdb/instance.ts';
import { destroyChunk, PreparedStatement, Statement } from '#worker/duckdb/statement.ts';

/** For tests: the whole result of a query, as an IPC stream and as what `ArrowInput` takes. */
export type ArrowResult = {
  readonly stream: Uint8Array;
  readonly fields: readonly ArrowField[];
  readonly rows: number;
  readonly batches: readonly ArrowBatch[];
  readonly dictionaries: readonly ArrowBatch[];
};

/**
 * Runs a query and hands out its messages, the schema first; their buffers are valid until the next. `instance` for connections whose
 * Arrow has views.
 */
export function eachMessage(
  connection: Connection,
  sql: string,
  send: (message: ArrowMessage) => void,
  instance?: Instance,
): readonly ArrowField[] {
  using prepared = new PreparedStatement(connection, sql, 'anything');
  return eachMessageOf(prepared, send, instance);
}

/** The messages of one run of a prepared statement. */
function eachMessageOf(
  prepared: PreparedStatement,
  send: (message: ArrowMessage) => void,
  instance?: Instance,
): readonly ArrowField[] {
  using statement = new Statement(prepared);
  while (statement.step() !== 'ready');
  using form = ArrowForm.exact(statement.result, () =>
    must(instance, 'an instance where there are views').arrowWithoutViews(),
  );
  using writer = new ArrowWriter(form.options, form.fields);
  send(schemaMessage(form.fields));
  for (let chunk = statement.fetch(); chunk !== undefined; chunk = statement.fetch()) {
    writer.append(chunk);
    destroyChunk(chunk);
    if (writer.full) writer.flush(send);
  }
  writer.flush(send);
  return form.fields;
}

export function queryArrow(connection: Connection, sql: string, instance?: Instance): ArrowResult {
  using prepared = new PreparedStatement(connection, sql, 'anything');
  return preparedArrow(prepared, instance);
}

/** The whole result of one run of a prepared statement. */
export function preparedArrow(prepared: PreparedStatement, instance?: Instance): ArrowResult {
  const parts: Uint8Array[] = [];
  const batches: ArrowBatch[] = [];
  const dictionaries: ArrowBatch[] = [];
  const send = (message: ArrowMessage): void => {
    parts.push(...encapsulate(message));
    const metadata = Message.decode(message.header);
    const buffers = message.buffers.map((buffer) => arrowBuffer(copyOf(buffer, buffer.bytes)));
    if (metadata.isRecordBatch()) {
      batches.push({ rows: message.rows, nodes: metadata.header().nodes, buffers });
    } else if (metadata.isDictionaryBatch()) {
      dictionaries.push({ rows: message.rows, nodes: metadata.header().nodes, buffers });
    }
  };
  const fields = eachMessageOf(prepared, send, instance);
  return {
    stream: Buffer.concat(parts),
    fields,
    rows: batches.reduce((sum, batch) => sum + batch.rows, 0),
    batches,
    dictionaries,
  };
}

/** The bytes of a buffer, and zeros behind them. */
function copyOf(buffer: ArrowBuffer, length: number): Uint8Array {
  const copy = new Uint8Array(length);
  readBuffer(buffer, copy, 0);
  return copy;
}

function encapsulate({ header, buffers }: ArrowMessage): Uint8Array[] {
  const prefix = Buffer.alloc(8);
  const padded = Buffer.alloc((header.length + 7) & ~7);
  padded.set(header);
  prefix.writeInt32LE(-1, 0);
  prefix.writeInt32LE(padded.length, 4);
  return [prefix, padded, ...buffers.map((buffer) => copyOf(buffer, paddedBytes(buffer.bytes)))];
}
