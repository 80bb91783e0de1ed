import type { FlightDescriptor } from '#proto/generated/arrow/flight/protocol/FlightDescriptor.ts';
import type { FlightInfoInput } from '#proto/generated/arrow/flight/protocol/FlightInfo.ts';
import type { PollInfoInput } from '#proto/generated/arrow/flight/protocol/PollInfo.ts';
import { Schema } from 'apache-arrow';
import { SkeinError } from '#shared/error.ts';
import { schemaMessage } from './arrow-message.ts';
import { endpointOf, ticketOf } from './endpoints.ts';
import { readCommand, type FlightCommand } from './flight-command.ts';
import type { FlightDoor } from './flight-door.ts';
import { StatementFailure } from './flight-error.ts';
import type { FlightResult } from './flight-result.ts';
import { transactionOf } from './flight-transactions.ts';
import { isMetadata, metadataSchema } from './metadata/metadata-rows.ts';
import { onAbort } from './on-abort.ts';
import { datasetSchema, describeForClient } from './prepare.ts';
import { queryBound, runBound } from './run-bound.ts';
import { runStatement } from './run-statement.ts';
import type { Visit } from './visit.ts';

export type Asked = { readonly descriptor: FlightDescriptor; readonly gone: AbortSignal };

/** GetFlightInfo: runs the command of a descriptor, and says where its rows are. @throws SkeinError, StatementFailure */
export async function flightInfo(door: FlightDoor, visit: Visit, asked: Asked): Promise<FlightInfoInput> {
  const command = readCommand(asked.descriptor.cmd);
  if (isMetadata(command)) {
    // The command is the ticket for its rows, which are made when they are read.
    const { descriptor } = asked;
    const endpoint = [{ ticket: { ticket: descriptor.cmd } }];
    return { ...UNKNOWN_SIZE, schema: schemaMessage(metadataSchema(command)), flight_descriptor: descriptor, endpoint };
  }
  const started = await start(door, visit, command, asked.gone);
  if (typeof started === 'number') return nothing(asked.descriptor, started);
  const { result, handle } = keep(door, visit, started);
  using _left = onAbort(asked.gone, (reason) => result.cancel(reason));
  return await answered(door, { result, handle, descriptor: asked.descriptor });
}

/** Time that one call waits for a query's columns. */
const POLL_WAIT_MS = 5_000;

/**
 * PollFlightInfo: the first call begins the command of its descriptor, and answers at once with another descriptor; calls with that wait for
 * the query's columns, and answer where its rows are.
 */
export async function pollInfo(door: FlightDoor, visit: Visit, asked: Asked): Promise<PollInfoInput> {
  const command = readCommand(asked.descriptor.cmd);
  if (isMetadata(command)) return { info: await flightInfo(door, visit, asked), progress: 1 };
  if (command.kind !== 'TicketStatementQuery') {
    const started = await start(door, visit, command, asked.gone);
    if (typeof started === 'number') return { info: nothing(asked.descriptor, started), progress: 1 };
    return waiting(keep(door, visit, started).handle);
  }
  const handle = command.fields.statement_handle.toString();
  const result = door.results.find(visit.caller.claims, handle);
  if (!(await result.isPlanned(POLL_WAIT_MS, asked.gone))) return waiting(handle);
  return { info: await answered(door, { result, handle, descriptor: asked.descriptor }), progress: 1 };
}

/** Its info has the descriptor, too, by which the query is cancelled. */
function waiting(handle: string): PollInfoInput {
  const descriptor = { type: 'CMD', cmd: ticketOf(handle) } as const;
  return { info: { ...UNKNOWN_SIZE, flight_descriptor: descriptor }, flight_descriptor: descriptor, progress: 0 };
}

const UNKNOWN = '-1';
const UNKNOWN_SIZE = { total_records: UNKNOWN, total_bytes: UNKNOWN } as const;

/** Begins the statement of a command. One that is known to give no rows has run to its end: the number of rows that it has changed. */
async function start(
  door: FlightDoor,
  visit: Visit,
  command: FlightCommand,
  gone: AbortSignal,
): Promise<FlightResult | number> {
  if (command.kind === 'CommandStatementQuery') {
    const { query: sql, transaction_id: id } = command.fields;
    return runStatement(door, visit, { sql, parameters: null, transaction: transactionOf(visit.session, id) });
  }
  if (command.kind !== 'CommandPreparedStatementQuery') {
    throw new SkeinError('NOT_SUPPORTED', `${command.kind} gives no rows`);
  }
  const prepared = door.prepared.find(visit.session, command.fields.prepared_statement_handle.toString());
  if (prepared.description.kind === 'rows') return queryBound(door, visit, prepared);
  return runBound(door, visit, { prepared, gone });
}

/** GetSchema: the columns of a command, which does not run. @throws SkeinError, StatementFailure */
export async function describedSchema(door: FlightDoor, visit: Visit, asked: Asked): Promise<{ schema: Buffer }> {
  return { schema: schemaMessage(await schemaOf(door, visit, readCommand(asked.descriptor.cmd), asked.gone)) };
}

async function schemaOf(door: FlightDoor, visit: Visit, command: FlightCommand, gone: AbortSignal): Promise<Schema> {
  if (isMetadata(command)) return metadataSchema(command);
  if (command.kind === 'CommandStatementQuery') {
    const { query: sql, transaction_id: id } = command.fields;
    const text = { sql, transaction: transactionOf(visit.session, id) };
    return datasetSchema(await describeForClient(door, visit, { text, gone }));
  }
  if (command.kind !== 'CommandPreparedStatementQuery') {
    throw new SkeinError('NOT_SUPPORTED', `${command.kind} has no columns`);
  }
  const handle = command.fields.prepared_statement_handle.toString();
  return datasetSchema(door.prepared.find(visit.session, handle).description);
}

/** The info of a statement without rows. */
const nothing = (descriptor: FlightDescriptor, changed: number): FlightInfoInput => ({
  ...UNKNOWN_SIZE,
  schema: schemaMessage(new Schema([])),
  flight_descriptor: descriptor,
  endpoint: [],
  total_records: String(changed),
});

type Kept = { readonly result: FlightResult; readonly handle: string };

function keep(door: FlightDoor, visit: Visit, result: FlightResult): Kept {
  try {
    return { result, handle: door.results.add(visit.caller.claims, result) };
  } catch (error) {
    result.cancel(SkeinError.of(error));
    throw error;
  }
}

/** Says where the rows are, once their columns are known. A statement without columns has run to its end, and has no endpoint. */
async function answered(
  door: FlightDoor,
  { result, handle, descriptor }: Kept & Pick<Asked, 'descriptor'>,
): Promise<FlightInfoInput> {
  try {
    const schema = await result.schema();
    if (schema === undefined) {
      door.results.remove(handle, NOTHING_TO_READ);
      return nothing(descriptor, result.rows ?? 0);
    }
    return {
      ...UNKNOWN_SIZE,
      schema: schemaMessage(schema),
      flight_descriptor: descriptor,
      endpoint: [endpointOf(handle)],
      ...(result.rows === null ? {} : { total_records: String(result.rows) }),
    };
  } catch (error) {
    door.results.remove(handle, SkeinError.of(error));
    throw new StatementFailure(error, result);
  }
}

const NOTHING_TO_READ = new SkeinError('QUERY_CANCELLED', 'the statement has no rows');
