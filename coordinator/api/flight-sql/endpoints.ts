import type { FlightEndpoint, FlightEndpointInput } from '#proto/generated/arrow/flight/protocol/FlightEndpoint.ts';
import type { FlightInfo } from '#proto/generated/arrow/flight/protocol/FlightInfo.ts';
import { SkeinError } from '#shared/error.ts';
import { readCommand } from './flight-command.ts';
import type { FlightDoor } from './flight-door.ts';
import { encodeMessage, packMessage, type SqlMessages } from './flight-messages.ts';
import type { Visit } from './visit.ts';

/** The ticket of a result. */
export const ticketOf = (handle: string): Buffer =>
  packMessage('TicketStatementQuery', { statement_handle: Buffer.from(handle) });

/** The endpoint of a result: the connection that the client has. */
export const endpointOf = (handle: string): FlightEndpointInput => ({ ticket: { ticket: ticketOf(handle) } });

/** The handle of a result's ticket; undefined for the ticket of metadata, which has no state. @throws INVALID_REQUEST, NOT_SUPPORTED */
function handleOf({ ticket }: Pick<FlightEndpoint, 'ticket'>): string | undefined {
  if (ticket === null) throw new SkeinError('INVALID_REQUEST', 'an endpoint without a ticket');
  const command = readCommand(ticket.ticket);
  return command.kind === 'TicketStatementQuery' ? command.fields.statement_handle.toString() : undefined;
}

type CancelStatus = SqlMessages['CancelFlightInfoResult'][1]['status'];

/** Cancels the statements of a FlightInfo, which the client no longer wants. @throws NOT_FOUND, INVALID_REQUEST */
export function cancelInfo({ results }: FlightDoor, { caller }: Visit, info: FlightInfo | null): CancelStatus {
  const handles = handlesOf(info);
  for (const handle of handles) results.find(caller.claims, handle);
  for (const handle of handles) results.remove(handle, CANCELLED);
  return handles.length === 0 ? 'CANCEL_STATUS_NOT_CANCELLABLE' : 'CANCEL_STATUS_CANCELLED';
}

/** The results of an info. One whose query is still planned has no endpoint yet, and a descriptor that holds the ticket. */
function handlesOf(info: FlightInfo | null): readonly string[] {
  const endpoints = info?.endpoint ?? [];
  if (endpoints.length > 0) return endpoints.flatMap((endpoint) => handleOf(endpoint) ?? []);
  const cmd = info?.flight_descriptor?.cmd ?? Buffer.alloc(0);
  const handle = cmd.length === 0 ? undefined : handleOf({ ticket: { ticket: cmd } });
  if (handle === undefined) throw new SkeinError('INVALID_REQUEST', 'the FlightInfo has no endpoint');
  return [handle];
}

const CANCELLED = new SkeinError('QUERY_CANCELLED', 'the query was cancelled');

/** Starts the time of an endpoint's result anew; answers the endpoint with it. @throws NOT_FOUND, INVALID_REQUEST */
export function renewEndpoint({ results }: FlightDoor, { caller }: Visit, endpoint: FlightEndpoint | null): Buffer {
  if (endpoint === null) throw new SkeinError('INVALID_REQUEST', 'the request has no endpoint');
  const handle = handleOf(endpoint);
  if (handle === undefined) return encodeMessage('FlightEndpoint', endpoint);
  results.find(caller.claims, handle).renewed();
  const untilMs = Date.now() + results.renew(handle);
  const expiration = { seconds: String(Math.floor(untilMs / 1_000)), nanos: (untilMs % 1_000) * 1_000_000 };
  return encodeMessage('FlightEndpoint', { ...endpoint, expiration_time: expiration });
}
