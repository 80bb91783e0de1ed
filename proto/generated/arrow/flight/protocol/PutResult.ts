// Original file: flight.proto


export interface PutResultInput {
  readonly app_metadata?: (Buffer | Uint8Array | string);
}

export interface PutResult {
  readonly app_metadata: (Buffer);
}
