// Original file: flight-sql.proto


export interface ActionClosePreparedStatementRequestInput {
  readonly prepared_statement_handle?: (Buffer | Uint8Array | string);
}

export interface ActionClosePreparedStatementRequest {
  readonly prepared_statement_handle: (Buffer);
}
