// Original file: catalog.proto


export interface DropClientRequestInput {
  readonly tenant?: (string);
  readonly name?: (string);
}

export interface DropClientRequest {
  readonly tenant: (string);
  readonly name: (string);
}
