// Original file: catalog.proto


export interface CreateClientRequestInput {
  readonly tenant?: (string);
  readonly name?: (string);
  readonly roles?: readonly (string)[];
  readonly scope?: readonly (string)[];
}

export interface CreateClientRequest {
  readonly tenant: (string);
  readonly name: (string);
  readonly roles: readonly (string)[];
  readonly scope: readonly (string)[];
}
