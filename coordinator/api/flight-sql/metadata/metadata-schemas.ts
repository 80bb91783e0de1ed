import {
  Binary,
  Bool,
  DenseUnion,
  Field,
  Int32,
  Int64,
  List,
  Map_,
  Schema,
  Struct,
  Uint32,
  Uint8,
  Utf8,
  type DataType,
} from 'apache-arrow';

/** The schemas of metadata commands, exactly as the specification of Flight SQL has them: clients compare them. */
const required = (name: string, type: DataType): Field => new Field(name, type, false);
const optional = (name: string, type: DataType): Field => new Field(name, type, true);
const text = new Utf8();
const int32 = new Int32();

export const CATALOGS = new Schema([required('catalog_name', text)]);
export const DB_SCHEMAS = new Schema([optional('catalog_name', text), required('db_schema_name', text)]);
export const TABLES = new Schema([
  optional('catalog_name', text),
  optional('db_schema_name', text),
  required('table_name', text),
  required('table_type', text),
]);
export const TABLES_WITH_SCHEMA = new Schema([...TABLES.fields, required('table_schema', new Binary())]);
export const TABLE_TYPES = new Schema([required('table_type', text)]);
export const PRIMARY_KEYS = new Schema([
  optional('catalog_name', text),
  optional('db_schema_name', text),
  required('table_name', text),
  required('column_name', text),
  required('key_sequence', int32),
  optional('key_name', text),
]);
/** The columns of exported and imported keys, and of references between two tables. */
export const FOREIGN_KEYS = new Schema([
  optional('pk_catalog_name', text),
  optional('pk_db_schema_name', text),
  required('pk_table_name', text),
  required('pk_column_name', text),
  optional('fk_catalog_name', text),
  optional('fk_db_schema_name', text),
  required('fk_table_name', text),
  required('fk_column_name', text),
  required('key_sequence', int32),
  optional('fk_key_name', text),
  optional('pk_key_name', text),
  required('update_rule', new Uint8()),
  required('delete_rule', new Uint8()),
]);
const INT32_LISTS = new Map_<Int32, List<Int32>>(
  required(
    'entries',
    new Struct([required('key', int32), optional('value', new List(optional('item', int32)))]),
  ) as Field<Struct<{ key: Int32; value: List<Int32> }>>,
);
export const SQL_INFO = new Schema([
  required('info_name', new Uint32()),
  required(
    'value',
    new DenseUnion(
      [0, 1, 2, 3, 4, 5],
      [
        optional('string_value', text),
        optional('bool_value', new Bool()),
        optional('bigint_value', new Int64()),
        optional('int32_bitmask', int32),
        optional('string_list', new List(optional('item', text))),
        optional('int32_to_int32_list_map', INT32_LISTS),
      ],
    ),
  ),
]);
export const XDBC_TYPE_INFO = new Schema([
  required('type_name', text),
  required('data_type', int32),
  optional('column_size', int32),
  optional('literal_prefix', text),
  optional('literal_suffix', text),
  optional('create_params', new List(required('item', text))),
  required('nullable', int32),
  required('case_sensitive', new Bool()),
  required('searchable', int32),
  optional('unsigned_attribute', new Bool()),
  required('fixed_prec_scale', new Bool()),
  optional('auto_increment', new Bool()),
  optional('local_type_name', text),
  optional('minimum_scale', int32),
  optional('maximum_scale', int32),
  required('sql_data_type', int32),
  optional('datetime_subcode', int32),
  optional('num_prec_radix', int32),
  optional('interval_precision', int32),
]);
