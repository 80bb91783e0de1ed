// Original file: flight-sql.proto


export interface ActionCancelQueryRequestInput {
  readonly info?: (Buffer | Uint8Array | string);
}

export interface ActionCancelQueryRequest {
  readonly info: (Buffer);
}
