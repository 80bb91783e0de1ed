// Original file: flight-sql.proto


export interface DoPutPreparedStatementResultInput {
  readonly prepared_statement_handle?: (Buffer | Uint8Array | string);
  readonly _prepared_statement_handle?: "prepared_statement_handle";
}

export interface DoPutPreparedStatementResult {
  readonly prepared_statement_handle?: (Buffer);
  readonly _prepared_statement_handle?: "prepared_statement_handle";
}
