// Original file: flight-sql.proto


export interface CommandGetTableTypesInput {
}

export interface CommandGetTableTypes {
}
