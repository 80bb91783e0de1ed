/**
 * Functions of Postgres' catalog as SQL over its relations. `$1` is an argument; one that is left out is NULL. `_` begins the names that a text
 * gives: each use of it gets its own.
 */
export type Known = {
  readonly text: string;
  readonly type: string;
  /** The type of a first argument that is a constant text. */
  readonly first?: 'regclass' | 'regnamespace';
};

const one = (type: string, text: string): Known => ({ text, type });
const of = (type: string, column: string, relation: string, key = 'oid'): Known =>
  one(type, `(SELECT _r.${column} FROM pg_catalog.${relation} AS _r WHERE _r.${key} = $1)`);
const whenThere = (type: string, value: string): Known => one(type, `(CASE WHEN $1 IS NOT NULL THEN ${value} END)`);

/** Whether what has a number lies in a schema that needs no name. */
const visible = (relation: string, namespace: string): Known =>
  one(
    'bool',
    `(SELECT _n.nspname IN ('pg_catalog', current_schema()) FROM pg_catalog.${relation} AS _r
      JOIN pg_catalog.pg_namespace AS _n ON _n.oid = _r.${namespace} WHERE _r.oid = $1)`,
  );

/** `a(-1)` and `a(5)`: names of types with their modifiers. */
const FORMAT_TYPE = `(CASE WHEN $1 IS NULL THEN NULL WHEN $1 = 0 THEN '-' ELSE coalesce((SELECT
  CASE WHEN $2 IS NULL OR $2 < 0 THEN _t.name
    WHEN _t.element IN ('varchar', 'bpchar') THEN regexp_replace(_t.name, '^([^\\[]*)', '\\1(' || ($2 - 4) || ')')
    WHEN _t.element = 'numeric' THEN regexp_replace(_t.name, '^([^\\[]*)', '\\1(' || (($2 - 4) >> 16) || ',' || (($2 - 4) & 65535) || ')')
    WHEN _t.element IN ('time', 'timestamp', 'timetz', 'timestamptz') THEN regexp_replace(_t.name, '^([^ ]*)', '\\1(' || $2 || ')')
    WHEN _t.element IN ('bit', 'varbit') THEN regexp_replace(_t.name, '^([^\\[]*)', '\\1(' || $2 || ')')
    ELSE _t.name END
  FROM pg_catalog.skein_types AS _t WHERE _t.oid = $1), '???') END)`;

const INDEX_DEFINITION = `(SELECT CASE WHEN coalesce($2, 0) = 0
  THEN CASE WHEN $3 AND _k.schema = current_schema() THEN _k.shortdef ELSE _k.indexdef END ELSE _k.columns[$2] END
  FROM pg_catalog.skein_keys AS _k WHERE _k.indexrelid = $1)`;

const SIZE: Known = { ...of('int8', 'bytes', 'skein_sizes'), first: 'regclass' };
const NO_TEXT = one('text', 'CAST(NULL AS VARCHAR)');

/** A text in quotes, with those in it doubled, as Postgres' `quote_literal` writes it. @param value an expression of SQL that is a text */
export const quotedLiteral = (value: string): string =>
  `CASE WHEN contains(${value}, '\\') THEN 'E' ELSE '' END || '''' || replace(replace(${value}, '''', ''''''), '\\', '\\\\') || ''''`;

export const PG_FUNCTIONS: Readonly<Record<string, Known>> = {
  format_type: one('text', FORMAT_TYPE),
  pg_get_userbyid: one(
    'name',
    `(CASE WHEN $1 IS NOT NULL THEN coalesce((SELECT _r.rolname FROM pg_catalog.pg_roles AS _r WHERE _r.oid = $1), 'unknown (OID=' || $1 || ')') END)`,
  ),
  pg_table_is_visible: visible('pg_class', 'relnamespace'),
  pg_type_is_visible: visible('pg_type', 'typnamespace'),
  pg_function_is_visible: visible('pg_proc', 'pronamespace'),
  pg_operator_is_visible: visible('pg_operator', 'oprnamespace'),
  pg_collation_is_visible: visible('pg_collation', 'collnamespace'),
  pg_opclass_is_visible: visible('pg_opclass', 'opcnamespace'),
  pg_opfamily_is_visible: visible('pg_opfamily', 'opfnamespace'),
  pg_conversion_is_visible: visible('pg_conversion', 'connamespace'),
  pg_ts_config_is_visible: visible('pg_ts_config', 'cfgnamespace'),
  pg_ts_dict_is_visible: visible('pg_ts_dict', 'dictnamespace'),
  pg_ts_parser_is_visible: visible('pg_ts_parser', 'prsnamespace'),
  pg_ts_template_is_visible: visible('pg_ts_template', 'tmplnamespace'),
  pg_statistics_obj_is_visible: visible('pg_statistic_ext', 'stxnamespace'),
  pg_get_expr: one('text', '$1'),
  pg_get_constraintdef: of('text', 'condef', 'skein_keys', 'conoid'),
  pg_get_indexdef: one('text', INDEX_DEFINITION),
  pg_get_viewdef: { ...of('text', 'definition', 'skein_views'), first: 'regclass' },
  pg_get_functiondef: NO_TEXT,
  pg_get_function_sqlbody: NO_TEXT,
  pg_get_function_arguments: of('text', 'arguments', 'skein_functions'),
  pg_get_function_identity_arguments: of('text', 'arguments', 'skein_functions'),
  pg_get_function_result: of('text', 'result', 'skein_functions'),
  pg_get_triggerdef: NO_TEXT,
  pg_get_ruledef: one(
    'text',
    `(SELECT 'CREATE RULE "_RETURN" AS' || chr(10) || '    ON SELECT TO ' || _n.nspname || '.' || _c.relname || ' DO INSTEAD  ' || _v.definition
      FROM pg_catalog.pg_rewrite AS _r JOIN pg_catalog.pg_class AS _c ON _c.oid = _r.ev_class JOIN pg_catalog.pg_namespace AS _n ON _n.oid = _c.relnamespace
      JOIN pg_catalog.skein_views AS _v ON _v.oid = _c.oid WHERE _r.oid = $1)`,
  ),
  pg_get_partkeydef: NO_TEXT,
  pg_get_partition_constraintdef: NO_TEXT,
  pg_get_statisticsobjdef: NO_TEXT,
  pg_get_statisticsobjdef_columns: NO_TEXT,
  pg_get_serial_sequence: NO_TEXT,
  col_description: one(
    'text',
    `(SELECT _d.description FROM pg_catalog.pg_description AS _d WHERE _d.objoid = $1 AND _d.classoid = 1259 AND _d.objsubid = $2)`,
  ),
  obj_description: one(
    'text',
    `(SELECT _d.description FROM pg_catalog.pg_description AS _d WHERE _d.objoid = $1 AND _d.objsubid = 0 AND _d.classoid =
      (SELECT _c.oid FROM pg_catalog.pg_class AS _c WHERE _c.relname = $2 AND _c.relnamespace = 11))`,
  ),
  shobj_description: NO_TEXT,
  pg_encoding_to_char: whenThere('name', `(CASE $1 WHEN 6 THEN 'UTF8' WHEN 0 THEN 'SQL_ASCII' ELSE '' END)`),
  pg_char_to_encoding: whenThere('int4', `(CASE WHEN upper($1) IN ('UTF8', 'UTF-8') THEN 6 ELSE -1 END)`),
  getdatabaseencoding: one('name', `'UTF8'`),
  pg_client_encoding: one('name', `'UTF8'`),
  pg_relation_size: SIZE,
  pg_table_size: SIZE,
  pg_total_relation_size: SIZE,
  pg_indexes_size: whenThere('int8', 'CAST(0 AS BIGINT)'),
  pg_database_size: one('int8', 'CAST(NULL AS BIGINT)'),
  pg_tablespace_size: one('int8', 'CAST(NULL AS BIGINT)'),
  pg_tablespace_location: whenThere('text', `''`),
  row_security_active: { ...of('bool', 'relrowsecurity', 'pg_class'), first: 'regclass' },
  pg_is_in_recovery: one('bool', 'false'),
  pg_is_wal_replay_paused: one('bool', 'false'),
  pg_is_other_temp_schema: whenThere('bool', 'false'),
  pg_my_temp_schema: one('oid', 'CAST(0 AS BIGINT)'),
  pg_relation_is_publishable: whenThere('bool', 'false'),
  // INSERT, UPDATE and DELETE, as bits.
  pg_relation_is_updatable: {
    type: 'int4',
    text: `(SELECT CASE WHEN _r.relkind = 'r' AND _r.oid >= 16384 THEN 28 ELSE 0 END FROM pg_catalog.pg_class AS _r WHERE _r.oid = $1)`,
    first: 'regclass',
  },
  pg_column_is_updatable: {
    ...one('bool', `(SELECT _r.relkind = 'r' AND _r.oid >= 16384 FROM pg_catalog.pg_class AS _r WHERE _r.oid = $1)`),
    first: 'regclass',
  },
  pg_postmaster_start_time: one('timestamptz', 'now()'),
  pg_conf_load_time: one('timestamptz', 'now()'),
  quote_ident: whenThere(
    'text',
    `(CASE WHEN regexp_full_match($1, '[a-z_][a-z0-9_]*') AND NOT EXISTS
      (SELECT 1 FROM pg_catalog.pg_get_keywords AS _k WHERE _k.word = $1 AND _k.catcode <> 'U')
      THEN $1 ELSE '"' || replace($1, '"', '""') || '"' END)`,
  ),
  quote_literal: whenThere('text', `(${quotedLiteral('CAST($1 AS VARCHAR)')})`),
  pg_size_pretty: one('text', 'pg_size_pretty(CAST($1 AS BIGINT))'),
  array_upper: one('int4', 'CAST(nullif(len($1), 0) AS INTEGER)'),
  array_length: one('int4', 'CAST(nullif(len($1), 0) AS INTEGER)'),
  array_lower: one('int4', 'CAST(CASE WHEN len($1) > 0 THEN 1 END AS INTEGER)'),
  cardinality: one('int4', 'CAST(len($1) AS INTEGER)'),
  array_ndims: one('int4', 'CAST(CASE WHEN len($1) > 0 THEN 1 END AS INTEGER)'),
  array_to_string: one('text', `array_to_string(CAST($1 AS VARCHAR[]), $2)`),
  array_remove: one('', 'list_filter($1, lambda _x: _x IS DISTINCT FROM $2)'),
  pg_partition_ancestors: one('regclass', 'unnest(CAST([] AS BIGINT[]))'),
  // No object has a list of rights.
  aclexplode: one(
    'record',
    'unnest(CAST([] AS STRUCT(grantor BIGINT, grantee BIGINT, privilege_type VARCHAR, is_grantable BOOLEAN)[]))',
  ),
  nameconcatoid: one('name', `($1 || '_' || $2)`),
  // Parts of types by their numbers and modifiers, with which Postgres defines `information_schema.columns`.
  _pg_char_max_length: one(
    'int4',
    `CAST(CASE WHEN $2 = -1 THEN NULL WHEN $1 IN (1042, 1043) THEN $2 - 4 WHEN $1 IN (1560, 1562) THEN $2 END AS INTEGER)`,
  ),
  _pg_char_octet_length: one(
    'int4',
    `CAST(CASE WHEN $1 IN (25, 1042, 1043) THEN CASE WHEN $2 = -1 THEN 1073741824 ELSE ($2 - 4) * 4 END END AS INTEGER)`,
  ),
  _pg_numeric_precision: one(
    'int4',
    `CAST(CASE $1 WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 700 THEN 24 WHEN 701 THEN 53
      WHEN 1700 THEN CASE WHEN $2 = -1 THEN NULL ELSE (($2 - 4) >> 16) & 65535 END END AS INTEGER)`,
  ),
  _pg_numeric_precision_radix: one(
    'int4',
    `CAST(CASE WHEN $1 IN (20, 21, 23, 700, 701) THEN 2 WHEN $1 = 1700 THEN 10 END AS INTEGER)`,
  ),
  _pg_numeric_scale: one(
    'int4',
    `CAST(CASE WHEN $1 IN (20, 21, 23) THEN 0 WHEN $1 = 1700 AND $2 <> -1 THEN ($2 - 4) & 65535 END AS INTEGER)`,
  ),
  _pg_datetime_precision: one(
    'int4',
    `CAST(CASE WHEN $1 = 1082 THEN 0 WHEN $1 IN (1083, 1114, 1184, 1266) THEN CASE WHEN $2 < 0 THEN 6 ELSE $2 END
      WHEN $1 = 1186 THEN CASE WHEN $2 < 0 OR $2 & 65535 = 65535 THEN 6 ELSE $2 & 65535 END END AS INTEGER)`,
  ),
  _pg_interval_type: NO_TEXT,
  acldefault: one('_aclitem', 'CAST(NULL AS VARCHAR[])'),
  // Nothing waits for a lock of another connection.
  pg_blocking_pids: whenThere('_int4', 'CAST([] AS INTEGER[])'),
  bpchar: one('bpchar', 'CAST($1 AS VARCHAR)'),
  oidvectortypes: one(
    'text',
    `coalesce((SELECT string_agg(coalesce(_t.name, '???'), ', ' ORDER BY _u.place)
      FROM (SELECT unnest($1) AS type, unnest(range(1, len($1) + 1)) AS place) AS _u LEFT JOIN pg_catalog.skein_types AS _t ON _t.oid = _u.type), '')`,
  ),
  generate_subscripts: one('int4', 'unnest(range(1, len($1) + 1))'),
};

/** Functions of ours that are called as they are, and the types that Postgres gives them. Null = that which DuckDB says. */
export const TYPED: Readonly<Record<string, string>> = {
  count: 'int8',
  row_number: 'int8',
  rank: 'int8',
  dense_rank: 'int8',
  lower: 'text',
  upper: 'text',
  substring: 'text',
  replace: 'text',
  trim: 'text',
  btrim: 'text',
  string_agg: 'text',
  concat: 'text',
  length: 'int4',
  version: 'text',
  current_database: 'name',
  current_schema: 'name',
  current_user: 'name',
  session_user: 'name',
  current_schemas: '_name',
  current_setting: 'text',
  pg_backend_pid: 'int4',
  pg_advisory_unlock_all: 'void',
  pg_cancel_backend: 'bool',
  pg_terminate_backend: 'bool',
  pg_sleep: 'void',
  pg_size_pretty: 'text',
  bool_and: 'bool',
  bool_or: 'bool',
  now: 'timestamptz',
};

/** Functions that give many rows beside other columns. */
export const ROW_FUNCTIONS: ReadonlySet<string> = new Set([
  'generate_series',
  'unnest',
  'generate_subscripts',
  '_pg_expandarray',
]);

/** How the number of an object is found by its name, and its name by its number. */
export const NUMBERED: Readonly<
  Record<string, { readonly relation: string; readonly name: string; readonly namespace: string | null }>
> = {
  regclass: { relation: 'pg_class', name: 'relname', namespace: 'relnamespace' },
  regtype: { relation: 'pg_type', name: 'typname', namespace: 'typnamespace' },
  regproc: { relation: 'pg_proc', name: 'proname', namespace: 'pronamespace' },
  regprocedure: { relation: 'pg_proc', name: 'proname', namespace: 'pronamespace' },
  regnamespace: { relation: 'pg_namespace', name: 'nspname', namespace: null },
  regrole: { relation: 'pg_roles', name: 'rolname', namespace: null },
  regoper: { relation: 'pg_operator', name: 'oprname', namespace: 'oprnamespace' },
  regoperator: { relation: 'pg_operator', name: 'oprname', namespace: 'oprnamespace' },
  regcollation: { relation: 'pg_collation', name: 'collname', namespace: 'collnamespace' },
  regconfig: { relation: 'pg_ts_config', name: 'cfgname', namespace: 'cfgnamespace' },
  regdictionary: { relation: 'pg_ts_dict', name: 'dictname', namespace: 'dictnamespace' },
};
