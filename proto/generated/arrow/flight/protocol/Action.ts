// Original file: flight.proto


export interface ActionInput {
  readonly type?: (string);
  readonly body?: (Buffer | Uint8Array | string);
}

export interface Action {
  readonly type: (string);
  readonly body: (Buffer);
}
