import type { FlightDescriptor } from '#proto/generated/arrow/flight/protocol/FlightDescriptor.ts';
import type { FlightInfoInput } from '#proto/generated/arrow/flight/protocol/FlightInfo.ts';
import { SkeinError } from '#shared/error.ts';
import { onAbort } from './on-abort.ts';
import { StatementFailure } from './flight-error.ts';
import { readCommand } from './flight-command.ts';
import type { FlightDoor } from './flight-door.ts';
import { packMessage } from './flight-messages.ts';
import { runStatement, type FlightStatement } from './run-statement.ts';
import type { Visit } from './visit.ts';

/** GetFlightInfo: runs the command of a descriptor, and says where its rows are. @throws SkeinError, StatementFailure */
export async function flightInfo(
  door: FlightDoor,
  visit: Visit,
  { descriptor, gone }: { readonly descriptor: FlightDescriptor; readonly gone: AbortSignal },
): Promise<FlightInfoInput> {
  const command = readCommand(descriptor.cmd);
  if (command.kind !== 'CommandStatementQuery') {
    throw new SkeinError('NOT_SUPPORTED', `GetFlightInfo does not take ${command.kind}`);
  }
  const statement = { sql: command.fields.query, parameters: null };
  return statementInfo(door, visit, { statement, descriptor, gone });
}

type Asked = {
  readonly statement: FlightStatement;
  readonly descriptor: FlightDescriptor;
  readonly gone: AbortSignal;
};

const UNKNOWN = '-1';

/** Runs a statement until its columns are known. */
async function statementInfo(
  door: FlightDoor,
  visit: Visit,
  { statement, descriptor, gone }: Asked,
): Promise<FlightInfoInput> {
  const result = runStatement(door, visit, statement);
  using _left = onAbort(gone, (reason) => result.cancel(reason));
  const handle = door.results.add(visit.caller.claims, result);
  try {
    const schema = await result.schemaMessage();
    const ticket = packMessage('TicketStatementQuery', { statement_handle: Buffer.from(handle) });
    return {
      ...(schema === undefined ? {} : { schema }),
      flight_descriptor: descriptor,
      endpoint: [{ ticket: { ticket } }],
      total_records: String(result.rows ?? UNKNOWN),
      total_bytes: UNKNOWN,
    };
  } catch (error) {
    door.results.remove(handle, SkeinError.of(error));
    throw new StatementFailure(error, result);
  }
}
