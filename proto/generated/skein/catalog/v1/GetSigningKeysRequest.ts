// Original file: catalog.proto


export interface GetSigningKeysRequestInput {
}

export interface GetSigningKeysRequest {
}
