// Original file: flight-sql.proto


export interface CommandGetExportedKeysInput {
  readonly catalog?: (string);
  readonly db_schema?: (string);
  readonly table?: (string);
  readonly _catalog?: "catalog";
  readonly _db_schema?: "db_schema";
}

export interface CommandGetExportedKeys {
  readonly catalog?: (string);
  readonly db_schema?: (string);
  readonly table: (string);
  readonly _catalog?: "catalog";
  readonly _db_schema?: "db_schema";
}
