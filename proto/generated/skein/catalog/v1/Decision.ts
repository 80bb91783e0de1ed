// Original file: catalog.proto


export interface DecisionInput {
  readonly action?: (string);
  readonly allowed?: (boolean);
  readonly reason?: (string);
}

export interface Decision {
  readonly action: (string);
  readonly allowed: (boolean);
  readonly reason: (string);
}
