// Original file: flight-sql.proto


export interface ActionCreatePreparedStatementRequestInput {
  readonly query?: (string);
  readonly transaction_id?: (Buffer | Uint8Array | string);
  readonly _transaction_id?: "transaction_id";
}

export interface ActionCreatePreparedStatementRequest {
  readonly query: (string);
  readonly transaction_id?: (Buffer);
  readonly _transaction_id?: "transaction_id";
}
