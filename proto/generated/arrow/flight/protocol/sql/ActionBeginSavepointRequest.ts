// Original file: flight-sql.proto


export interface ActionBeginSavepointRequestInput {
  readonly transaction_id?: (Buffer | Uint8Array | string);
  readonly name?: (string);
}

export interface ActionBeginSavepointRequest {
  readonly transaction_id: (Buffer);
  readonly name: (string);
}
