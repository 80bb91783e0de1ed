import { SkeinError } from '#shared/error.ts';
import { readBoundRows } from './bound-rows.ts';
import { readCommand } from './flight-command.ts';
import type { FlightDoor } from './flight-door.ts';
import { encodeMessage } from './flight-messages.ts';
import { transactionOf } from './flight-transactions.ts';
import { ingest } from './ingest.ts';
import { openPutStream, type DoPutCall } from './put-stream.ts';
import { runBound } from './run-bound.ts';
import { runToEnd } from './run-statement.ts';
import type { Visit } from './visit.ts';

/** DoPut: runs the command of the stream's descriptor with the rows that come; answers its one reply. @throws SkeinError, StatementFailure */
export async function doPut(door: FlightDoor, visit: Visit, call: DoPutCall, gone: AbortSignal): Promise<Buffer> {
  const { command: bytes, messages } = await openPutStream(call);
  const command = readCommand(bytes);
  if (command.kind === 'CommandStatementUpdate') {
    const { query: sql, transaction_id: id } = command.fields;
    const transaction = transactionOf(visit.session, id);
    return updated(await runToEnd(door, visit, { sql, parameters: null, transaction, gone }));
  }
  if (command.kind === 'CommandStatementIngest') {
    return updated(await ingest(door, visit, { fields: command.fields, messages, gone }));
  }
  if (command.kind !== 'CommandPreparedStatementQuery' && command.kind !== 'CommandPreparedStatementUpdate') {
    throw new SkeinError('NOT_SUPPORTED', `DoPut does not take ${command.kind}`);
  }
  const handle = command.fields.prepared_statement_handle;
  await bind(door, visit, { handle, messages });
  if (command.kind === 'CommandPreparedStatementQuery') {
    return encodeMessage('DoPutPreparedStatementResult', { prepared_statement_handle: handle });
  }
  const prepared = door.prepared.find(visit.session, handle.toString());
  return updated(await runBound(door, visit, { prepared, gone }));
}

const updated = (count: number): Buffer => encodeMessage('DoPutUpdateResult', { record_count: String(count) });

type Binding = { readonly handle: Buffer; readonly messages: Parameters<typeof readBoundRows>[0] };

/** Binds the rows of a stream to a prepared statement; a statement without parameters needs none. */
async function bind(
  { prepared, config }: FlightDoor,
  { session }: Visit,
  { handle, messages }: Binding,
): Promise<void> {
  const { description } = prepared.find(session, handle.toString());
  const rows = await readBoundRows(messages, config['coordinator.flight_bound_bytes_max']);
  if (description.parameters.length > 0) prepared.bind(session, handle.toString(), rows);
}
