// Original file: catalog.proto


export interface NameListInput {
  readonly names?: readonly (string)[];
}

export interface NameList {
  readonly names: readonly (string)[];
}
