// Original file: catalog.proto


export interface DescribeCatalogsRequestInput {
  readonly tenant?: (string);
}

export interface DescribeCatalogsRequest {
  readonly tenant: (string);
}
