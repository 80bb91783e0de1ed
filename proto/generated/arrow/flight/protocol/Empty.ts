// Original file: flight.proto


export interface EmptyInput {
}

export interface Empty {
}
