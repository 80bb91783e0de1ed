// Original file: catalog.proto


export interface DropTenantRequestInput {
  readonly name?: (string);
}

export interface DropTenantRequest {
  readonly name: (string);
}
