// Original file: flight-sql.proto


export interface _arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptionsInput {
  readonly if_not_exist?: (_arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptions_TableNotExistOptionInput);
  readonly if_exists?: (_arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptions_TableExistsOptionInput);
}

export interface _arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptions {
  readonly if_not_exist: (_arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptions_TableNotExistOption);
  readonly if_exists: (_arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptions_TableExistsOption);
}

// Original file: flight-sql.proto

export const _arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptions_TableExistsOption = {
  TABLE_EXISTS_OPTION_UNSPECIFIED: 'TABLE_EXISTS_OPTION_UNSPECIFIED',
  TABLE_EXISTS_OPTION_FAIL: 'TABLE_EXISTS_OPTION_FAIL',
  TABLE_EXISTS_OPTION_APPEND: 'TABLE_EXISTS_OPTION_APPEND',
  TABLE_EXISTS_OPTION_REPLACE: 'TABLE_EXISTS_OPTION_REPLACE',
} as const;

export type _arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptions_TableExistsOptionInput =
  | 'TABLE_EXISTS_OPTION_UNSPECIFIED'
  | 0
  | 'TABLE_EXISTS_OPTION_FAIL'
  | 1
  | 'TABLE_EXISTS_OPTION_APPEND'
  | 2
  | 'TABLE_EXISTS_OPTION_REPLACE'
  | 3

export type _arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptions_TableExistsOption = typeof _arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptions_TableExistsOption[keyof typeof _arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptions_TableExistsOption]

// Original file: flight-sql.proto

export const _arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptions_TableNotExistOption = {
  TABLE_NOT_EXIST_OPTION_UNSPECIFIED: 'TABLE_NOT_EXIST_OPTION_UNSPECIFIED',
  TABLE_NOT_EXIST_OPTION_CREATE: 'TABLE_NOT_EXIST_OPTION_CREATE',
  TABLE_NOT_EXIST_OPTION_FAIL: 'TABLE_NOT_EXIST_OPTION_FAIL',
} as const;

export type _arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptions_TableNotExistOptionInput =
  | 'TABLE_NOT_EXIST_OPTION_UNSPECIFIED'
  | 0
  | 'TABLE_NOT_EXIST_OPTION_CREATE'
  | 1
  | 'TABLE_NOT_EXIST_OPTION_FAIL'
  | 2

export type _arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptions_TableNotExistOption = typeof _arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptions_TableNotExistOption[keyof typeof _arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptions_TableNotExistOption]

export interface CommandStatementIngestInput {
  readonly table_definition_options?: (_arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptionsInput | null);
  readonly table?: (string);
  readonly schema?: (string);
  readonly catalog?: (string);
  readonly temporary?: (boolean);
  readonly transaction_id?: (Buffer | Uint8Array | string);
  readonly options?: ({[key: string]: string});
  readonly _schema?: "schema";
  readonly _catalog?: "catalog";
  readonly _transaction_id?: "transaction_id";
}

export interface CommandStatementIngest {
  readonly table_definition_options: (_arrow_flight_protocol_sql_CommandStatementIngest_TableDefinitionOptions | null);
  readonly table: (string);
  readonly schema?: (string);
  readonly catalog?: (string);
  readonly temporary: (boolean);
  readonly transaction_id?: (Buffer);
  readonly options: ({[key: string]: string});
  readonly _schema?: "schema";
  readonly _catalog?: "catalog";
  readonly _transaction_id?: "transaction_id";
}
