// Original file: catalog.proto


export interface TableNameInput {
  readonly catalog?: (string);
  readonly namespace?: readonly (string)[];
  readonly table?: (string);
  readonly known_version?: (string);
}

export interface TableName {
  readonly catalog: (string);
  readonly namespace: readonly (string)[];
  readonly table: (string);
  readonly known_version: (string);
}
