// Original file: catalog.proto


export interface RelationPolicyInput {
  readonly kind?: (string);
  readonly catalog?: (string);
  readonly schema?: (string);
  readonly name?: (string);
  readonly field_id?: (number);
}

export interface RelationPolicy {
  readonly kind: (string);
  readonly catalog: (string);
  readonly schema: (string);
  readonly name: (string);
  readonly field_id: (number);
}
