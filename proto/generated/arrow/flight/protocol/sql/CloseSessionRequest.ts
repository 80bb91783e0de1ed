// Original file: flight-sql.proto


export interface CloseSessionRequestInput {
}

export interface CloseSessionRequest {
}
