// Original file: flight.proto


export interface ActionTypeInput {
  readonly type?: (string);
  readonly description?: (string);
}

export interface ActionType {
  readonly type: (string);
  readonly description: (string);
}
