// Original file: catalog.proto


export interface CatalogCheckInput {
  readonly name?: (string);
  readonly problem?: (string);
}

export interface CatalogCheck {
  readonly name: (string);
  readonly problem: (string);
}
