// Original file: flight-sql.proto


export interface CommandGetDbSchemasInput {
  readonly catalog?: (string);
  readonly db_schema_filter_pattern?: (string);
  readonly _catalog?: "catalog";
  readonly _db_schema_filter_pattern?: "db_schema_filter_pattern";
}

export interface CommandGetDbSchemas {
  readonly catalog?: (string);
  readonly db_schema_filter_pattern?: (string);
  readonly _catalog?: "catalog";
  readonly _db_schema_filter_pattern?: "db_schema_filter_pattern";
}
