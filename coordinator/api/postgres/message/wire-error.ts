import { SkeinError } from '#shared/error.ts';
import type { QueryId } from '#shared/id.ts';
import type { DerivedText } from '../../../statement/derived-text.ts';

/** An error of the protocol itself, or a limit of the door, which has no other door's code. */
export class WireError extends Error {
  readonly sqlState: string;
  /** Where it happened, beside its place in the statement. */
  readonly context: string | undefined;

  constructor(sqlState: string, message: string, context?: string) {
    super(message);
    this.sqlState = sqlState;
    this.context = context;
  }
}

/** The session has ended: its rights have changed, its token has expired, or another coordinator serves. */
export class SessionOver extends WireError {
  constructor(message: string) {
    super('57P01', message);
  }
}

/** The next bytes of the connection are no message: it ends, because a part of a message must not be read as another one. */
export class SyncLost extends WireError {}

/** Messages of another order or form than the protocol has. */
export const protocolViolation = (message: string): WireError => new WireError('08P01', message);

/** The error of a statement in a transaction that has failed. */
export const aborted = (): WireError =>
  new WireError('25P02', 'current transaction is aborted, commands ignored until end of transaction block');

type Place = {
  readonly sql: string;
  readonly offset: number;
  readonly queryId?: QueryId;
  /** The text that the engine was given, when it is not the statement's own. */
  readonly made?: Pick<DerivedText, 'toSource'>;
};

/** An error of a statement, with its place in the text of the message that had it. */
export class StatementError extends Error {
  readonly error: SkeinError;
  readonly queryId: QueryId | undefined;
  /** The place in characters from 1; undefined = none. */
  readonly position: number | undefined;

  constructor(thrown: unknown, { sql, offset, queryId, made }: Place) {
    const error = SkeinError.of(thrown);
    super(error.message, { cause: error });
    this.error = error;
    this.queryId = queryId;
    // Clients count characters, not units of UTF-16.
    const at = error.position === undefined ? undefined : (made?.toSource(error.position) ?? error.position);
    this.position = at === undefined ? undefined : charactersBefore(sql, offset + at) + 1;
  }
}

/** Characters before a place: two units of UTF-16 may be one. */
function charactersBefore(text: string, end: number): number {
  let count = 0;
  for (let i = 0; i < end; i += (text.codePointAt(i) ?? 0) > 0xff_ff ? 2 : 1) count += 1;
  return count;
}

export type ErrorFields = {
  readonly sqlState: string;
  readonly message: string;
  readonly hint?: string;
  readonly position?: number;
  readonly context?: string;
};

/** The fields of an error, as its client is told. */
export function errorFields(thrown: unknown): ErrorFields {
  if (thrown instanceof WireError) {
    const { sqlState, message, context } = thrown;
    return { sqlState, message, ...(context === undefined ? {} : { context }) };
  }
  if (thrown instanceof StatementError) {
    const { error, position, queryId } = thrown;
    return {
      sqlState: error.entry.sqlState,
      message: error.message,
      ...(queryId === undefined ? {} : { hint: `query ${queryId}` }),
      ...(position === undefined ? {} : { position }),
    };
  }
  const error = SkeinError.of(thrown);
  return { sqlState: error.entry.sqlState, message: error.message };
}
