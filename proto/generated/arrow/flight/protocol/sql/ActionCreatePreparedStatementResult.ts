// Original file: flight-sql.proto


export interface ActionCreatePreparedStatementResultInput {
  readonly prepared_statement_handle?: (Buffer | Uint8Array | string);
  readonly dataset_schema?: (Buffer | Uint8Array | string);
  readonly parameter_schema?: (Buffer | Uint8Array | string);
  readonly is_update?: (boolean);
  readonly _is_update?: "is_update";
}

export interface ActionCreatePreparedStatementResult {
  readonly prepared_statement_handle: (Buffer);
  readonly dataset_schema: (Buffer);
  readonly parameter_schema: (Buffer);
  readonly is_update?: (boolean);
  readonly _is_update?: "is_update";
}
