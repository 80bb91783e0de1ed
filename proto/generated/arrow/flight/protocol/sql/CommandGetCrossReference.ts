// Original file: flight-sql.proto


export interface CommandGetCrossReferenceInput {
  readonly pk_catalog?: (string);
  readonly pk_db_schema?: (string);
  readonly pk_table?: (string);
  readonly fk_catalog?: (string);
  readonly fk_db_schema?: (string);
  readonly fk_table?: (string);
  readonly _pk_catalog?: "pk_catalog";
  readonly _pk_db_schema?: "pk_db_schema";
  readonly _fk_catalog?: "fk_catalog";
  readonly _fk_db_schema?: "fk_db_schema";
}

export interface CommandGetCrossReference {
  readonly pk_catalog?: (string);
  readonly pk_db_schema?: (string);
  readonly pk_table: (string);
  readonly fk_catalog?: (string);
  readonly fk_db_schema?: (string);
  readonly fk_table: (string);
  readonly _pk_catalog?: "pk_catalog";
  readonly _pk_db_schema?: "pk_db_schema";
  readonly _fk_catalog?: "fk_catalog";
  readonly _fk_db_schema?: "fk_db_schema";
}
