import { randomUUID } from 'node:crypto';
import { queryId as toQueryId } from '#shared/id.ts';
import type { Parameters } from '../../statement/parameters.ts';
import type { FlightDoor } from './flight-door.ts';
import { FlightResult } from './flight-result.ts';
import type { Visit } from './visit.ts';

export type FlightStatement = { readonly sql: string; readonly parameters: Parameters | null };

/** Begins a statement, whose rows go to a result that a ticket will read. */
export function runStatement(
  { queries, heldBytesMax }: FlightDoor,
  visit: Visit,
  statement: FlightStatement,
): FlightResult {
  const { sql, parameters } = statement;
  const queryId = toQueryId(randomUUID());
  const result = new FlightResult({ queryId, sql, heldBytesMax });
  const { caller, session, source, traceParent, arrivedMs } = visit;
  const request = { caller, session, queryId, sql, parameters, arrivedMs, timeoutMs: undefined, source, traceParent };
  void queries
    .execute({ ...request, clientGone: result.gone, sink: result })
    .catch((error: unknown) => result.fail(error));
  return result;
}
