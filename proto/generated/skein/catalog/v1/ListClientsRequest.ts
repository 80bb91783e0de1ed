// Original file: catalog.proto


export interface ListClientsRequestInput {
  readonly tenant?: (string);
}

export interface ListClientsRequest {
  readonly tenant: (string);
}
