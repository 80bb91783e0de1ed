// Original file: catalog.proto


export interface DropCatalogRequestInput {
  readonly name?: (string);
}

export interface DropCatalogRequest {
  readonly name: (string);
}
