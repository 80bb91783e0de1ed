import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { readCommand } from './flight-command.ts';
import type { FlightDoor } from './flight-door.ts';
import { StatementFailure } from './flight-error.ts';
import { CatalogEntries } from './metadata/catalog-entries.ts';
import { isMetadata, metadataCommandRows } from './metadata/metadata-rows.ts';
import type { InfoLimits } from './metadata/sql-info.ts';
import { onAbort } from './on-abort.ts';
import { sendRows, type DoGetCall } from './send-result.ts';
import type { Visit } from './visit.ts';

/** DoGet: sends the rows of a ticket. @throws SkeinError, StatementFailure */
export async function doGet(door: FlightDoor, visit: Visit, call: DoGetCall, gone: AbortSignal): Promise<void> {
  const command = readCommand(call.request.ticket);
  if (isMetadata(command)) {
    const entries = new CatalogEntries(door.sessions.catalog, visit.caller, gone);
    await sendRows(call, metadataCommandRows(command, entries, infoLimits(door.config)));
    return;
  }
  if (command.kind !== 'TicketStatementQuery') {
    throw new SkeinError('NOT_SUPPORTED', `DoGet does not take ${command.kind}`);
  }
  await sendStatement(door, visit, { call, gone, handle: command.fields.statement_handle.toString() });
}

const infoLimits = (config: Config): InfoLimits => ({
  statementTimeoutMs: config['coordinator.session_idle'],
  transactionTimeoutMs: config['coordinator.transaction_timeout'],
  connectionsMax: config['coordinator.flight_connections_max'],
  statementBytesMax: config['coordinator.statement_bytes_max'],
});

type Sending = { readonly call: DoGetCall; readonly gone: AbortSignal; readonly handle: string };

async function sendStatement(door: FlightDoor, visit: Visit, { call, gone, handle }: Sending): Promise<void> {
  const result = door.results.find(visit.caller.claims, handle);
  // A result that has ended and is kept is there when the client comes again.
  using _left = onAbort(gone, (reason) => {
    if (result.keptBytes === undefined) door.results.remove(handle, reason);
  });
  try {
    const schema = must(await result.schema(), 'a result with a ticket has columns');
    await sendRows(call, { schema, batches: result.read() });
    if (!call.cancelled) door.results.wasRead(handle);
  } catch (error) {
    throw new StatementFailure(error, result);
  }
}
