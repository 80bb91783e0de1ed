import { Metadata, type ServiceError } from '@grpc/grpc-js';
import { cutText } from '#shared/cut-text.ts';
import { ERRORS, SkeinError } from '#shared/error.ts';
import type { QueryId } from '#shared/id.ts';
import { placeIn } from '../../query/error-place.ts';
import { encodeMessage } from './flight-messages.ts';

/** The error of a statement, with the statement. */
export class StatementFailure extends Error {
  readonly error: SkeinError;
  readonly queryId: QueryId;
  readonly sql: string;

  constructor(thrown: unknown, { queryId, sql }: { readonly queryId: QueryId; readonly sql: string }) {
    const error = SkeinError.of(thrown);
    super(error.message, { cause: error });
    this.error = error;
    this.queryId = queryId;
    this.sql = sql;
  }
}

/**
 * Longest message in a status, in bytes: it travels as a header, percent-encoded, and again in the details; clients end a connection whose
 * headers have more than 8 to 16 KiB.
 */
const MESSAGE_BYTES_MAX = 1_024;
const DOMAIN = 'skein';

/**
 * An error as the status of a call. The message begins with the SQLSTATE in brackets; `grpc-status-details-bin` is a google.rpc.Status with
 * an ErrorInfo of code, SQLSTATE, query id and place.
 */
export function flightError(thrown: unknown): Pick<ServiceError, 'code' | 'details' | 'metadata'> {
  const statement = thrown instanceof StatementFailure ? thrown : undefined;
  const error = statement?.error ?? SkeinError.of(thrown);
  const { grpc, sqlState } = ERRORS[error.code];
  const message = cutText(`[${sqlState}] ${error.message}`, MESSAGE_BYTES_MAX);
  const metadata = new Metadata();
  const info = encodeMessage('ErrorInfo', {
    reason: error.code,
    domain: DOMAIN,
    metadata: {
      sql_state: sqlState,
      ...(statement === undefined ? {} : { query_id: statement.queryId }),
      ...(statement === undefined || error.position === undefined
        ? {}
        : { place: placeIn(statement.sql, error.position) }),
    },
  });
  const details = [{ type_url: 'type.googleapis.com/google.rpc.ErrorInfo', value: info }];
  metadata.set('grpc-status-details-bin', encodeMessage('RpcStatus', { code: grpc, message, details }));
  return { code: grpc, details: message, metadata };
}
