// Original file: catalog.proto


export interface ChangeListInput {
  readonly mark?: (string);
  readonly is_known?: (boolean);
  readonly relations?: readonly (string)[];
  readonly namespaces?: (boolean);
}

export interface ChangeList {
  readonly mark: (string);
  readonly is_known: (boolean);
  readonly relations: readonly (string)[];
  readonly namespaces: (boolean);
}
