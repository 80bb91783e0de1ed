// Original file: calls.proto


export interface AnswerInput {
  readonly id?: (number);
  readonly reply?: (Buffer | Uint8Array | string);
  readonly failure?: (Buffer | Uint8Array | string);
  readonly too_long?: (boolean);
}

export interface Answer {
  readonly id: (number);
  readonly reply: (Buffer);
  readonly failure: (Buffer);
  readonly too_long: (boolean);
}
