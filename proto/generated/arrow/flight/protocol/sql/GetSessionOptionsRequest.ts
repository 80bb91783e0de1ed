// Original file: flight-sql.proto


export interface GetSessionOptionsRequestInput {
}

export interface GetSessionOptionsRequest {
}
