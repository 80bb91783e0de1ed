// Original file: flight-sql.proto


export interface ActionBeginSavepointResultInput {
  readonly savepoint_id?: (Buffer | Uint8Array | string);
}

export interface ActionBeginSavepointResult {
  readonly savepoint_id: (Buffer);
}
