// Original file: catalog.proto


export interface NamespaceInput {
  readonly levels?: readonly (string)[];
  readonly owner?: (string);
  readonly oid?: (number);
  readonly comment?: (string);
}

export interface Namespace {
  readonly levels: readonly (string)[];
  readonly owner: (string);
  readonly oid: (number);
  readonly comment: (string);
}
