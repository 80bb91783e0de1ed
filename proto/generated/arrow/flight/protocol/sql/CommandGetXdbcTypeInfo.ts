// Original file: flight-sql.proto


export interface CommandGetXdbcTypeInfoInput {
  readonly data_type?: (number);
  readonly _data_type?: "data_type";
}

export interface CommandGetXdbcTypeInfo {
  readonly data_type?: (number);
  readonly _data_type?: "data_type";
}
