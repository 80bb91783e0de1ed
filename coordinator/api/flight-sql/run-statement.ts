import { randomUUID } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import { queryId as toQueryId } from '#shared/id.ts';
import type { StatementRequest } from '../../query/query-service.ts';
import type { SessionKey } from '../../session/session-store.ts';
import type { ResultSink } from '../../sink/result-sink.ts';
import type { Parameters } from '../../statement/parameters.ts';
import type { FlightDoor } from './flight-door.ts';
import { StatementFailure } from './flight-error.ts';
import { FlightResult } from './flight-result.ts';
import { UpdateCount } from './update-count.ts';
import type { Visit } from './visit.ts';

export type FlightStatement = {
  readonly sql: string;
  readonly parameters: Parameters | null;
  /** The transaction that the client names; undefined = none. */
  readonly transaction: SessionKey | undefined;
};

/** Begins a statement, whose rows go to a result that a ticket will read. */
export function runStatement(door: FlightDoor, visit: Visit, statement: FlightStatement): FlightResult {
  const queryId = toQueryId(randomUUID());
  const result = new FlightResult({
    queryId,
    sql: statement.sql,
    heldBytesMax: door.config['coordinator.result_holdback'],
  });
  const request = { ...requestOf(visit, statement, result), queryId, clientGone: result.gone };
  void door.queries.execute(request).catch((error: unknown) => result.fail(error));
  return result;
}

/** Runs a statement to its end; answers how many rows it has changed. @throws StatementFailure */
export async function runToEnd(
  door: FlightDoor,
  visit: Visit,
  statement: FlightStatement & { readonly gone?: AbortSignal },
): Promise<number> {
  const queryId = toQueryId(randomUUID());
  const count = new UpdateCount();
  const clientGone = statement.gone ?? new AbortController().signal;
  try {
    await door.queries.execute({ ...requestOf(visit, statement, count), queryId, clientGone });
  } catch (error) {
    throw new StatementFailure(error, { queryId, sql: statement.sql });
  }
  return count.rows;
}

function requestOf(
  { caller, session, source, traceParent, arrivedMs }: Visit,
  { sql, parameters, transaction }: FlightStatement,
  sink: ResultSink,
): Omit<StatementRequest, 'queryId' | 'clientGone'> {
  if (sql === '') throw new SkeinError('INVALID_REQUEST', 'the command has no statement');
  const inside = transaction === undefined ? {} : { transaction };
  const asked = { caller, session, ...inside, ddlInTransaction: 'commit', sql, parameters, arrivedMs } as const;
  return { ...asked, timeoutMs: undefined, source, traceParent, sink };
}
