// Original file: flight-sql.proto


export interface ActionBeginTransactionRequestInput {
}

export interface ActionBeginTransactionRequest {
}
