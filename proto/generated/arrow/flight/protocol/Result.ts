// Original file: flight.proto


export interface ResultInput {
  readonly body?: (Buffer | Uint8Array | string);
}

export interface Result {
  readonly body: (Buffer);
}
