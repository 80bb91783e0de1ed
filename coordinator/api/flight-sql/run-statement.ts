import { randomUUID } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import { queryId as toQueryId, type QueryId } from '#shared/id.ts';
import type { TableRows } from '../../binding/table-rows.ts';
import type { SessionKey } from '../../session/session-store.ts';
import type { DoorSink } from '../../sink/result-sink.ts';
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
  /** The rows that the text names `@rows/arrived`. */
  readonly rows?: TableRows;
};

export const newQueryId = (): QueryId => toQueryId(randomUUID());

/** A result that waits for its statement. */
export const newResult = (sql: string): FlightResult => new FlightResult({ queryId: newQueryId(), sql });

/** Begins a statement, whose rows go to a result that a ticket will read. */
export function runStatement(door: FlightDoor, visit: Visit, statement: FlightStatement): FlightResult {
  const result = newResult(statement.sql);
  const { queryId, gone } = result;
  void executeInto(door, visit, statement, { sink: result, gone, queryId }).catch((error: unknown) =>
    result.fail(error instanceof StatementFailure ? error.error : error),
  );
  return result;
}

/** Runs a statement to its end; answers how many rows it has changed. @throws StatementFailure */
export async function runToEnd(
  door: FlightDoor,
  visit: Visit,
  statement: FlightStatement & { readonly gone?: AbortSignal },
): Promise<number> {
  const count = new UpdateCount();
  await executeInto(door, visit, statement, { sink: count, gone: statement.gone ?? NEVER });
  return count.rows;
}

const NEVER = new AbortController().signal;

type Into = {
  readonly sink: DoorSink;
  /** Aborts when the client is gone. */
  readonly gone: AbortSignal;
  readonly queryId?: QueryId;
};

/** Runs a statement, whose result goes to a sink. @throws StatementFailure */
export async function executeInto(
  { queries }: FlightDoor,
  { caller, session, source, traceParent, arrivedMs }: Visit,
  { sql, parameters, transaction, rows }: FlightStatement,
  { sink, gone: clientGone, queryId = newQueryId() }: Into,
): Promise<void> {
  if (sql === '') throw new SkeinError('INVALID_REQUEST', 'the command has no statement');
  const inside = { ...(transaction === undefined ? {} : { transaction }), ...(rows === undefined ? {} : { rows }) };
  const asked = { caller, session, ...inside, ddlInTransaction: 'commit', sql, parameters, arrivedMs } as const;
  try {
    await queries.execute({ ...asked, queryId, timeoutMs: undefined, source, traceParent, clientGone, sink });
  } catch (error) {
    throw new StatementFailure(error, { queryId, sql });
  }
}
