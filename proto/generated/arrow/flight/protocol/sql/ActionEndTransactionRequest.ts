// Original file: flight-sql.proto


// Original file: flight-sql.proto

export const _arrow_flight_protocol_sql_ActionEndTransactionRequest_EndTransaction = {
  END_TRANSACTION_UNSPECIFIED: 'END_TRANSACTION_UNSPECIFIED',
  END_TRANSACTION_COMMIT: 'END_TRANSACTION_COMMIT',
  END_TRANSACTION_ROLLBACK: 'END_TRANSACTION_ROLLBACK',
} as const;

export type _arrow_flight_protocol_sql_ActionEndTransactionRequest_EndTransactionInput =
  | 'END_TRANSACTION_UNSPECIFIED'
  | 0
  | 'END_TRANSACTION_COMMIT'
  | 1
  | 'END_TRANSACTION_ROLLBACK'
  | 2

export type _arrow_flight_protocol_sql_ActionEndTransactionRequest_EndTransaction = typeof _arrow_flight_protocol_sql_ActionEndTransactionRequest_EndTransaction[keyof typeof _arrow_flight_protocol_sql_ActionEndTransactionRequest_EndTransaction]

export interface ActionEndTransactionRequestInput {
  readonly transaction_id?: (Buffer | Uint8Array | string);
  readonly action?: (_arrow_flight_protocol_sql_ActionEndTransactionRequest_EndTransactionInput);
}

export interface ActionEndTransactionRequest {
  readonly transaction_id: (Buffer);
  readonly action: (_arrow_flight_protocol_sql_ActionEndTransactionRequest_EndTransaction);
}
