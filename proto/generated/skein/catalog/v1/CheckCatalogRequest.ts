// Original file: catalog.proto


export interface CheckCatalogRequestInput {
  readonly name?: (string);
}

export interface CheckCatalogRequest {
  readonly name: (string);
}
