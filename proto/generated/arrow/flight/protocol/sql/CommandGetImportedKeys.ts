// Original file: flight-sql.proto


export interface CommandGetImportedKeysInput {
  readonly catalog?: (string);
  readonly db_schema?: (string);
  readonly table?: (string);
  readonly _catalog?: "catalog";
  readonly _db_schema?: "db_schema";
}

export interface CommandGetImportedKeys {
  readonly catalog?: (string);
  readonly db_schema?: (string);
  readonly table: (string);
  readonly _catalog?: "catalog";
  readonly _db_schema?: "db_schema";
}
