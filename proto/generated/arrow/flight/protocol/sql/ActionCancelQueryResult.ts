// Original file: flight-sql.proto


// Original file: flight-sql.proto

export const _arrow_flight_protocol_sql_ActionCancelQueryResult_CancelResult = {
  CANCEL_RESULT_UNSPECIFIED: 'CANCEL_RESULT_UNSPECIFIED',
  CANCEL_RESULT_CANCELLED: 'CANCEL_RESULT_CANCELLED',
  CANCEL_RESULT_CANCELLING: 'CANCEL_RESULT_CANCELLING',
  CANCEL_RESULT_NOT_CANCELLABLE: 'CANCEL_RESULT_NOT_CANCELLABLE',
} as const;

export type _arrow_flight_protocol_sql_ActionCancelQueryResult_CancelResultInput =
  | 'CANCEL_RESULT_UNSPECIFIED'
  | 0
  | 'CANCEL_RESULT_CANCELLED'
  | 1
  | 'CANCEL_RESULT_CANCELLING'
  | 2
  | 'CANCEL_RESULT_NOT_CANCELLABLE'
  | 3

export type _arrow_flight_protocol_sql_ActionCancelQueryResult_CancelResult = typeof _arrow_flight_protocol_sql_ActionCancelQueryResult_CancelResult[keyof typeof _arrow_flight_protocol_sql_ActionCancelQueryResult_CancelResult]

export interface ActionCancelQueryResultInput {
  readonly result?: (_arrow_flight_protocol_sql_ActionCancelQueryResult_CancelResultInput);
}

export interface ActionCancelQueryResult {
  readonly result: (_arrow_flight_protocol_sql_ActionCancelQueryResult_CancelResult);
}
