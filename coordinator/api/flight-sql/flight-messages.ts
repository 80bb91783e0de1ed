import type {
  ActionBeginSavepointRequest,
  ActionBeginSavepointRequestInput,
} from '#proto/generated/arrow/flight/protocol/sql/ActionBeginSavepointRequest.ts';
import type {
  ActionBeginSavepointResult,
  ActionBeginSavepointResultInput,
} from '#proto/generated/arrow/flight/protocol/sql/ActionBeginSavepointResult.ts';
import type {
  ActionEndSavepointRequest,
  ActionEndSavepointRequestInput,
} from '#proto/generated/arrow/flight/protocol/sql/ActionEndSavepointRequest.ts';
import type {
  ActionBeginTransactionRequest,
  ActionBeginTransactionRequestInput,
} from '#proto/generated/arrow/flight/protocol/sql/ActionBeginTransactionRequest.ts';
import type {
  ActionBeginTransactionResult,
  ActionBeginTransactionResultInput,
} from '#proto/generated/arrow/flight/protocol/sql/ActionBeginTransactionResult.ts';
import type {
  ActionCancelQueryRequest,
  ActionCancelQueryRequestInput,
} from '#proto/generated/arrow/flight/protocol/sql/ActionCancelQueryRequest.ts';
import type {
  ActionCancelQueryResult,
  ActionCancelQueryResultInput,
} from '#proto/generated/arrow/flight/protocol/sql/ActionCancelQueryResult.ts';
import type {
  ActionClosePreparedStatementRequest,
  ActionClosePreparedStatementRequestInput,
} from '#proto/generated/arrow/flight/protocol/sql/ActionClosePreparedStatementRequest.ts';
import type {
  ActionCreatePreparedStatementRequest,
  ActionCreatePreparedStatementRequestInput,
} from '#proto/generated/arrow/flight/protocol/sql/ActionCreatePreparedStatementRequest.ts';
import type {
  ActionCreatePreparedStatementResult,
  ActionCreatePreparedStatementResultInput,
} from '#proto/generated/arrow/flight/protocol/sql/ActionCreatePreparedStatementResult.ts';
import type {
  ActionEndTransactionRequest,
  ActionEndTransactionRequestInput,
} from '#proto/generated/arrow/flight/protocol/sql/ActionEndTransactionRequest.ts';
import type { Any, AnyInput } from '#proto/generated/arrow/flight/protocol/sql/Any.ts';
import type {
  CancelFlightInfoRequest,
  CancelFlightInfoRequestInput,
} from '#proto/generated/arrow/flight/protocol/sql/CancelFlightInfoRequest.ts';
import type {
  CancelFlightInfoResult,
  CancelFlightInfoResultInput,
} from '#proto/generated/arrow/flight/protocol/sql/CancelFlightInfoResult.ts';
import type {
  CloseSessionRequest,
  CloseSessionRequestInput,
} from '#proto/generated/arrow/flight/protocol/sql/CloseSessionRequest.ts';
import type {
  CloseSessionResult,
  CloseSessionResultInput,
} from '#proto/generated/arrow/flight/protocol/sql/CloseSessionResult.ts';
import type {
  CommandGetCatalogs,
  CommandGetCatalogsInput,
} from '#proto/generated/arrow/flight/protocol/sql/CommandGetCatalogs.ts';
import type {
  CommandGetCrossReference,
  CommandGetCrossReferenceInput,
} from '#proto/generated/arrow/flight/protocol/sql/CommandGetCrossReference.ts';
import type {
  CommandGetDbSchemas,
  CommandGetDbSchemasInput,
} from '#proto/generated/arrow/flight/protocol/sql/CommandGetDbSchemas.ts';
import type {
  CommandGetExportedKeys,
  CommandGetExportedKeysInput,
} from '#proto/generated/arrow/flight/protocol/sql/CommandGetExportedKeys.ts';
import type {
  CommandGetImportedKeys,
  CommandGetImportedKeysInput,
} from '#proto/generated/arrow/flight/protocol/sql/CommandGetImportedKeys.ts';
import type {
  CommandGetPrimaryKeys,
  CommandGetPrimaryKeysInput,
} from '#proto/generated/arrow/flight/protocol/sql/CommandGetPrimaryKeys.ts';
import type {
  CommandGetSqlInfo,
  CommandGetSqlInfoInput,
} from '#proto/generated/arrow/flight/protocol/sql/CommandGetSqlInfo.ts';
import type {
  CommandGetTableTypes,
  CommandGetTableTypesInput,
} from '#proto/generated/arrow/flight/protocol/sql/CommandGetTableTypes.ts';
import type {
  CommandGetTables,
  CommandGetTablesInput,
} from '#proto/generated/arrow/flight/protocol/sql/CommandGetTables.ts';
import type {
  CommandGetXdbcTypeInfo,
  CommandGetXdbcTypeInfoInput,
} from '#proto/generated/arrow/flight/protocol/sql/CommandGetXdbcTypeInfo.ts';
import type {
  CommandPreparedStatementQuery,
  CommandPreparedStatementQueryInput,
} from '#proto/generated/arrow/flight/protocol/sql/CommandPreparedStatementQuery.ts';
import type {
  CommandPreparedStatementUpdate,
  CommandPreparedStatementUpdateInput,
} from '#proto/generated/arrow/flight/protocol/sql/CommandPreparedStatementUpdate.ts';
import type {
  CommandStatementIngest,
  CommandStatementIngestInput,
} from '#proto/generated/arrow/flight/protocol/sql/CommandStatementIngest.ts';
import type {
  CommandStatementQuery,
  CommandStatementQueryInput,
} from '#proto/generated/arrow/flight/protocol/sql/CommandStatementQuery.ts';
import type {
  CommandStatementUpdate,
  CommandStatementUpdateInput,
} from '#proto/generated/arrow/flight/protocol/sql/CommandStatementUpdate.ts';
import type {
  DoPutPreparedStatementResult,
  DoPutPreparedStatementResultInput,
} from '#proto/generated/arrow/flight/protocol/sql/DoPutPreparedStatementResult.ts';
import type {
  DoPutUpdateResult,
  DoPutUpdateResultInput,
} from '#proto/generated/arrow/flight/protocol/sql/DoPutUpdateResult.ts';
import type { ErrorInfo, ErrorInfoInput } from '#proto/generated/arrow/flight/protocol/sql/ErrorInfo.ts';
import type {
  GetSessionOptionsRequest,
  GetSessionOptionsRequestInput,
} from '#proto/generated/arrow/flight/protocol/sql/GetSessionOptionsRequest.ts';
import type {
  GetSessionOptionsResult,
  GetSessionOptionsResultInput,
} from '#proto/generated/arrow/flight/protocol/sql/GetSessionOptionsResult.ts';
import type {
  RenewFlightEndpointRequest,
  RenewFlightEndpointRequestInput,
} from '#proto/generated/arrow/flight/protocol/sql/RenewFlightEndpointRequest.ts';
import type { RpcStatus, RpcStatusInput } from '#proto/generated/arrow/flight/protocol/sql/RpcStatus.ts';
import type {
  SessionOptionValue,
  SessionOptionValueInput,
} from '#proto/generated/arrow/flight/protocol/sql/SessionOptionValue.ts';
import type {
  SetSessionOptionsRequest,
  SetSessionOptionsRequestInput,
} from '#proto/generated/arrow/flight/protocol/sql/SetSessionOptionsRequest.ts';
import type {
  SetSessionOptionsResult,
  SetSessionOptionsResultInput,
} from '#proto/generated/arrow/flight/protocol/sql/SetSessionOptionsResult.ts';
import type {
  TicketStatementQuery,
  TicketStatementQueryInput,
} from '#proto/generated/arrow/flight/protocol/sql/TicketStatementQuery.ts';
import type { FlightEndpoint, FlightEndpointInput } from '#proto/generated/arrow/flight/protocol/FlightEndpoint.ts';
import { SkeinError } from '#shared/error.ts';
import { loadMessages, type MessageCodec } from '#shared/grpc/load-proto.ts';

/** The messages of flight-sql.proto, and one of flight.proto, by their names: as they may be sent, and as they are received. */
export type SqlMessages = {
  FlightEndpoint: readonly [FlightEndpointInput, FlightEndpoint];
  ActionBeginSavepointRequest: readonly [ActionBeginSavepointRequestInput, ActionBeginSavepointRequest];
  ActionBeginSavepointResult: readonly [ActionBeginSavepointResultInput, ActionBeginSavepointResult];
  ActionEndSavepointRequest: readonly [ActionEndSavepointRequestInput, ActionEndSavepointRequest];
  ActionBeginTransactionRequest: readonly [ActionBeginTransactionRequestInput, ActionBeginTransactionRequest];
  ActionBeginTransactionResult: readonly [ActionBeginTransactionResultInput, ActionBeginTransactionResult];
  ActionCancelQueryRequest: readonly [ActionCancelQueryRequestInput, ActionCancelQueryRequest];
  ActionCancelQueryResult: readonly [ActionCancelQueryResultInput, ActionCancelQueryResult];
  ActionClosePreparedStatementRequest: readonly [
    ActionClosePreparedStatementRequestInput,
    ActionClosePreparedStatementRequest,
  ];
  ActionCreatePreparedStatementRequest: readonly [
    ActionCreatePreparedStatementRequestInput,
    ActionCreatePreparedStatementRequest,
  ];
  ActionCreatePreparedStatementResult: readonly [
    ActionCreatePreparedStatementResultInput,
    ActionCreatePreparedStatementResult,
  ];
  ActionEndTransactionRequest: readonly [ActionEndTransactionRequestInput, ActionEndTransactionRequest];
  Any: readonly [AnyInput, Any];
  CancelFlightInfoRequest: readonly [CancelFlightInfoRequestInput, CancelFlightInfoRequest];
  CancelFlightInfoResult: readonly [CancelFlightInfoResultInput, CancelFlightInfoResult];
  CloseSessionRequest: readonly [CloseSessionRequestInput, CloseSessionRequest];
  CloseSessionResult: readonly [CloseSessionResultInput, CloseSessionResult];
  CommandGetCatalogs: readonly [CommandGetCatalogsInput, CommandGetCatalogs];
  CommandGetCrossReference: readonly [CommandGetCrossReferenceInput, CommandGetCrossReference];
  CommandGetDbSchemas: readonly [CommandGetDbSchemasInput, CommandGetDbSchemas];
  CommandGetExportedKeys: readonly [CommandGetExportedKeysInput, CommandGetExportedKeys];
  CommandGetImportedKeys: readonly [CommandGetImportedKeysInput, CommandGetImportedKeys];
  CommandGetPrimaryKeys: readonly [CommandGetPrimaryKeysInput, CommandGetPrimaryKeys];
  CommandGetSqlInfo: readonly [CommandGetSqlInfoInput, CommandGetSqlInfo];
  CommandGetTableTypes: readonly [CommandGetTableTypesInput, CommandGetTableTypes];
  CommandGetTables: readonly [CommandGetTablesInput, CommandGetTables];
  CommandGetXdbcTypeInfo: readonly [CommandGetXdbcTypeInfoInput, CommandGetXdbcTypeInfo];
  CommandPreparedStatementQuery: readonly [CommandPreparedStatementQueryInput, CommandPreparedStatementQuery];
  CommandPreparedStatementUpdate: readonly [CommandPreparedStatementUpdateInput, CommandPreparedStatementUpdate];
  CommandStatementIngest: readonly [CommandStatementIngestInput, CommandStatementIngest];
  CommandStatementQuery: readonly [CommandStatementQueryInput, CommandStatementQuery];
  CommandStatementUpdate: readonly [CommandStatementUpdateInput, CommandStatementUpdate];
  DoPutPreparedStatementResult: readonly [DoPutPreparedStatementResultInput, DoPutPreparedStatementResult];
  DoPutUpdateResult: readonly [DoPutUpdateResultInput, DoPutUpdateResult];
  ErrorInfo: readonly [ErrorInfoInput, ErrorInfo];
  GetSessionOptionsRequest: readonly [GetSessionOptionsRequestInput, GetSessionOptionsRequest];
  GetSessionOptionsResult: readonly [GetSessionOptionsResultInput, GetSessionOptionsResult];
  RenewFlightEndpointRequest: readonly [RenewFlightEndpointRequestInput, RenewFlightEndpointRequest];
  RpcStatus: readonly [RpcStatusInput, RpcStatus];
  SessionOptionValue: readonly [SessionOptionValueInput, SessionOptionValue];
  SetSessionOptionsRequest: readonly [SetSessionOptionsRequestInput, SetSessionOptionsRequest];
  SetSessionOptionsResult: readonly [SetSessionOptionsResultInput, SetSessionOptionsResult];
  TicketStatementQuery: readonly [TicketStatementQueryInput, TicketStatementQuery];
};

type MessageName = keyof SqlMessages;

const FLIGHT = 'arrow.flight.protocol';
const PACKAGE = 'arrow.flight.protocol.sql';
const find = loadMessages('flight-sql.proto');
const codecs = new Map<string, MessageCodec<object, object>>();

function codec<Name extends MessageName>(name: Name): MessageCodec<SqlMessages[Name][0], SqlMessages[Name][1]> {
  const known = codecs.get(name) ?? find(`${name === 'FlightEndpoint' ? FLIGHT : PACKAGE}.${name}`);
  codecs.set(name, known);
  return known;
}

export const encodeMessage = <Name extends MessageName>(name: Name, message: SqlMessages[Name][0]): Buffer =>
  codec(name).encode(message);

/** @throws INVALID_REQUEST */
export function decodeMessage<Name extends MessageName>(name: Name, bytes: Uint8Array): SqlMessages[Name][1] {
  try {
    return codec(name).decode(bytes);
  } catch (cause) {
    throw new SkeinError('INVALID_REQUEST', `the bytes are no ${name}`, { cause });
  }
}

const URL_PREFIX = `type.googleapis.com/${PACKAGE}.`;

/** A message in an `Any`, as commands, tickets and bodies of actions travel. */
export const packMessage = <Name extends MessageName>(name: Name, message: SqlMessages[Name][0]): Buffer =>
  encodeMessage('Any', { type_url: URL_PREFIX + name, value: encodeMessage(name, message) });

/** The name and bytes of a message in an `Any`; a name that is not Flight SQL's is the whole URL. @throws INVALID_REQUEST */
export function unpackMessage(bytes: Uint8Array): { readonly name: string; readonly value: Uint8Array } {
  const { type_url: url, value } = decodeMessage('Any', bytes);
  return { name: url.startsWith(URL_PREFIX) ? url.slice(URL_PREFIX.length) : url, value };
}
