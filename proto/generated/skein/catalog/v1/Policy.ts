// Original file: catalog.proto


export interface PolicyInput {
  readonly kind?: (string);
  readonly name?: (string);
  readonly field_id?: (number);
  readonly sql?: (string);
}

export interface Policy {
  readonly kind: (string);
  readonly name: (string);
  readonly field_id: (number);
  readonly sql: (string);
}
