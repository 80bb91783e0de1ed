// Original file: calls.proto


export interface CallInput {
  readonly id?: (number);
  readonly method?: (string);
  readonly request?: (Buffer | Uint8Array | string);
}

export interface Call {
  readonly id: (number);
  readonly method: (string);
  readonly request: (Buffer);
}
