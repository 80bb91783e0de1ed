// Original file: catalog.proto


export interface TableListInput {
  readonly names?: readonly (string)[];
  readonly more?: (boolean);
}

export interface TableList {
  readonly names: readonly (string)[];
  readonly more: (boolean);
}
