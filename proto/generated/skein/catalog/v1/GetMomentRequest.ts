// Original file: catalog.proto


export interface GetMomentRequestInput {
}

export interface GetMomentRequest {
}
