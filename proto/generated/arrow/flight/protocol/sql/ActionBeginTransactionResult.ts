// Original file: flight-sql.proto


export interface ActionBeginTransactionResultInput {
  readonly transaction_id?: (Buffer | Uint8Array | string);
}

export interface ActionBeginTransactionResult {
  readonly transaction_id: (Buffer);
}
