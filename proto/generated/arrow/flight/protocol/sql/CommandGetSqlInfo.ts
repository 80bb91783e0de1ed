// Original file: flight-sql.proto


export interface CommandGetSqlInfoInput {
  readonly info?: readonly (number)[];
}

export interface CommandGetSqlInfo {
  readonly info: readonly (number)[];
}
