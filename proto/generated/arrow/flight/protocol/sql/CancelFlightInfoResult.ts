// Original file: flight-sql.proto


// Original file: flight-sql.proto

export const _arrow_flight_protocol_sql_CancelFlightInfoResult_CancelStatus = {
  CANCEL_STATUS_UNSPECIFIED: 'CANCEL_STATUS_UNSPECIFIED',
  CANCEL_STATUS_CANCELLED: 'CANCEL_STATUS_CANCELLED',
  CANCEL_STATUS_CANCELLING: 'CANCEL_STATUS_CANCELLING',
  CANCEL_STATUS_NOT_CANCELLABLE: 'CANCEL_STATUS_NOT_CANCELLABLE',
} as const;

export type _arrow_flight_protocol_sql_CancelFlightInfoResult_CancelStatusInput =
  | 'CANCEL_STATUS_UNSPECIFIED'
  | 0
  | 'CANCEL_STATUS_CANCELLED'
  | 1
  | 'CANCEL_STATUS_CANCELLING'
  | 2
  | 'CANCEL_STATUS_NOT_CANCELLABLE'
  | 3

export type _arrow_flight_protocol_sql_CancelFlightInfoResult_CancelStatus = typeof _arrow_flight_protocol_sql_CancelFlightInfoResult_CancelStatus[keyof typeof _arrow_flight_protocol_sql_CancelFlightInfoResult_CancelStatus]

export interface CancelFlightInfoResultInput {
  readonly status?: (_arrow_flight_protocol_sql_CancelFlightInfoResult_CancelStatusInput);
}

export interface CancelFlightInfoResult {
  readonly status: (_arrow_flight_protocol_sql_CancelFlightInfoResult_CancelStatus);
}
