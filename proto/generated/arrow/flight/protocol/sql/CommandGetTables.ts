// Original file: flight-sql.proto


export interface CommandGetTablesInput {
  readonly catalog?: (string);
  readonly db_schema_filter_pattern?: (string);
  readonly table_name_filter_pattern?: (string);
  readonly table_types?: readonly (string)[];
  readonly include_schema?: (boolean);
  readonly _catalog?: "catalog";
  readonly _db_schema_filter_pattern?: "db_schema_filter_pattern";
  readonly _table_name_filter_pattern?: "table_name_filter_pattern";
}

export interface CommandGetTables {
  readonly catalog?: (string);
  readonly db_schema_filter_pattern?: (string);
  readonly table_name_filter_pattern?: (string);
  readonly table_types: readonly (string)[];
  readonly include_schema: (boolean);
  readonly _catalog?: "catalog";
  readonly _db_schema_filter_pattern?: "db_schema_filter_pattern";
  readonly _table_name_filter_pattern?: "table_name_filter_pattern";
}
