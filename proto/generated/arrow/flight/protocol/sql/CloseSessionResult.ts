// Original file: flight-sql.proto


// Original file: flight-sql.proto

export const _arrow_flight_protocol_sql_CloseSessionResult_Status = {
  UNSPECIFIED: 'UNSPECIFIED',
  CLOSED: 'CLOSED',
  CLOSING: 'CLOSING',
  NOT_CLOSEABLE: 'NOT_CLOSEABLE',
} as const;

export type _arrow_flight_protocol_sql_CloseSessionResult_StatusInput =
  | 'UNSPECIFIED'
  | 0
  | 'CLOSED'
  | 1
  | 'CLOSING'
  | 2
  | 'NOT_CLOSEABLE'
  | 3

export type _arrow_flight_protocol_sql_CloseSessionResult_Status = typeof _arrow_flight_protocol_sql_CloseSessionResult_Status[keyof typeof _arrow_flight_protocol_sql_CloseSessionResult_Status]

export interface CloseSessionResultInput {
  readonly status?: (_arrow_flight_protocol_sql_CloseSessionResult_StatusInput);
}

export interface CloseSessionResult {
  readonly status: (_arrow_flight_protocol_sql_CloseSessionResult_Status);
}
