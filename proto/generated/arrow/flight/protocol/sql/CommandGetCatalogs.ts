// Original file: flight-sql.proto


export interface CommandGetCatalogsInput {
}

export interface CommandGetCatalogs {
}
