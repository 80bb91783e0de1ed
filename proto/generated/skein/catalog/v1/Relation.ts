// Original file: catalog.proto


export interface RelationInput {
  readonly id?: (string);
  readonly version?: (string);
  readonly namespace?: readonly (string)[];
  readonly name?: (string);
  readonly kind?: (string);
  readonly summary?: (string);
  readonly storage_summary?: (string);
  readonly columns?: (string);
}

export interface Relation {
  readonly id: (string);
  readonly version: (string);
  readonly namespace: readonly (string)[];
  readonly name: (string);
  readonly kind: (string);
  readonly summary: (string);
  readonly storage_summary: (string);
  readonly columns: (string);
}
