// Original file: flight-sql.proto


export interface CommandPreparedStatementUpdateInput {
  readonly prepared_statement_handle?: (Buffer | Uint8Array | string);
}

export interface CommandPreparedStatementUpdate {
  readonly prepared_statement_handle: (Buffer);
}
