// Original file: flight-sql.proto


export interface CommandPreparedStatementQueryInput {
  readonly prepared_statement_handle?: (Buffer | Uint8Array | string);
}

export interface CommandPreparedStatementQuery {
  readonly prepared_statement_handle: (Buffer);
}
