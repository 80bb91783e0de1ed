// Original file: flight.proto


export interface SchemaResultInput {
  readonly schema?: (Buffer | Uint8Array | string);
}

export interface SchemaResult {
  readonly schema: (Buffer);
}
