// Original file: catalog.proto


export interface PolicyInput {
  readonly kind?: (string);
}

export interface Policy {
  readonly kind: (string);
}
