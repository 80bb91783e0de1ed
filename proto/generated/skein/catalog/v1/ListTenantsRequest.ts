// Original file: catalog.proto


export interface ListTenantsRequestInput {
}

export interface ListTenantsRequest {
}
