// Original file: flight.proto


export interface CriteriaInput {
  readonly expression?: (Buffer | Uint8Array | string);
}

export interface Criteria {
  readonly expression: (Buffer);
}
