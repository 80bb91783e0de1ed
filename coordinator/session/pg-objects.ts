// long file: one table of values for each relation
import type { Field } from '#shared/iceberg/type.ts';
import type { MadeValue } from '#shared/made-type.ts';
import { pgList } from '../binding/pg-rows.ts';
import { pgBuiltinRows, pgRelationNumber } from '../binding/pg-relations.ts';
import type { Relation } from '../catalog-client/relation.ts';
import { pgColumnType, type PgColumnType } from './pg-column-type.ts';
import type { CallersRights } from './rights-rows.ts';
import { columnDefault } from './sql-type-name.ts';

/** Numbers of Postgres' own. */
const OWNER = 10;
const HEAP = 2;
const BTREE = 403;
const INT_OPERATORS = 1978;

/** Numbers that belong to a table beside its own (`045-object-numbers.ts`). */
const indexOf = ({ oid }: Relation): number => oid + 1;
const constraintOf = ({ oid }: Relation): number => oid + 2;
const rowTypeOf = ({ oid }: Relation): number => oid + 3;
const defaultOf = ({ oid }: Relation): number => oid + 4;
const ruleOf = ({ oid }: Relation): number => oid + 5;

/** Columns of a table whose NOT NULL have numbers: odd ones from 2^31 on, where no table has its own. */
const NOT_NULLS = 64;
const notNullOf = ({ oid }: Relation, { number }: Column): number =>
  2 ** 31 + 2 * (((oid / 8) * NOT_NULLS + number - 1) % 2 ** 30) + 1;

/** A column that is there, with its number. */
type Column = { readonly field: Field; readonly number: number; readonly type: PgColumnType };

/** The object that a row is of. */
type Of = {
  readonly relation: ToldRelation;
  /** The row is one of the primary key's index. */
  readonly isIndex?: boolean;
  readonly column?: Column;
  /** The row is one of the NOT NULL of the column. */
  readonly isNotNull?: boolean;
  readonly need?: Need;
  /** The row is one of a privilege. */
  readonly privilege?: string;
};

/** Facts beside the relations. */
export type Beside = {
  /** The catalog that they are in. */
  readonly catalog: string;
  /** The queries of views by their numbers, as far as the caller may read them. */
  readonly definitions: ReadonlyMap<number, string>;
  readonly rights: CallersRights;
};

type Values = Readonly<Record<string, (of: Of, beside: Beside) => MadeValue>>;

/** How a relation of Postgres' catalog tells of a table or view. Columns without values have the default of their type. */
export type PgView = {
  readonly rows: (relation: ToldRelation, beside: Beside) => readonly Of[];
  readonly values: Values;
};

/** A relation whose columns are read once, for as long as its rows are made. */
export type ToldRelation = Relation & {
  readonly facts: () => { readonly columns: readonly Column[]; readonly keys: readonly Column[] };
  /** The columns of the primary key. */
  readonly keys: () => readonly Column[];
};

/** Relations of lists without a primary key, as most are: lists of names want no more of the columns. */
const KEYLESS = new WeakSet<Relation>();

export function toldRelation(relation: Relation): ToldRelation {
  let known: ReturnType<ToldRelation['facts']> | undefined;
  const facts = (): ReturnType<ToldRelation['facts']> => (known ??= factsOf(relation));
  const keys = (): readonly Column[] => {
    if (KEYLESS.has(relation)) return [];
    const found = facts().keys;
    if (found.length === 0) KEYLESS.add(relation);
    return found;
  };
  return { ...relation, facts, keys };
}

function factsOf(relation: Relation): ReturnType<ToldRelation['facts']> {
  const { fields, intervals, keys } = relation.columns();
  const columns = fields.map((field, i) => ({
    field,
    number: i + 1,
    type: pgColumnType(field, intervals.has(field.name)),
  }));
  return { columns, keys: columns.filter(({ field }) => keys.has(field.id)) };
}

const columnsOf = (relation: ToldRelation): readonly Column[] => relation.facts().columns;
const keysOf = (relation: ToldRelation): readonly Column[] => relation.keys();

const itself = (relation: ToldRelation): readonly Of[] => [{ relation }];
const ofKind =
  (...kinds: readonly Relation['kind'][]) =>
  (relation: ToldRelation): readonly Of[] =>
    kinds.includes(relation.kind) ? [{ relation }] : [];
const withKey = (relation: ToldRelation): readonly Of[] => (keysOf(relation).length === 0 ? [] : [{ relation }]);
const notNulls = (relation: ToldRelation): readonly Of[] =>
  relation.kind === 'TABLE'
    ? columnsOf(relation)
        .filter(({ field, number }) => field.required && number <= NOT_NULLS)
        .map((column) => ({ relation, column, isNotNull: true }))
    : [];
const withConstraints = (relation: ToldRelation): readonly Of[] => [...withKey(relation), ...notNulls(relation)];
const withIndex = (relation: ToldRelation): readonly Of[] => [
  { relation },
  ...withKey(relation).map((of) => ({ ...of, isIndex: true })),
];

const quoted = (name: string): string => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`);
const keyName = ({ name }: Relation): string => `${name}_pkey`;
const keyColumns = (relation: ToldRelation): string =>
  keysOf(relation)
    .map(({ field }) => quoted(field.name))
    .join(', ');
const relationKind = ({ kind }: Relation): string => (kind === 'TABLE' ? 'r' : kind === 'VIEW' ? 'v' : 'm');
const isPoliced = ({ policies }: Relation): boolean => policies.some(({ kind }) => kind === 'row_access');
const keyNumbers = ({ relation }: Of): string => pgList(keysOf(relation).map(({ number }) => number));

const CLASS: PgView = {
  rows: withIndex,
  values: {
    oid: ({ relation, isIndex }) => (isIndex === true ? indexOf(relation) : relation.oid),
    relname: ({ relation, isIndex }) => (isIndex === true ? keyName(relation) : relation.name),
    relnamespace: ({ relation }) => relation.namespaceOid,
    reltype: ({ relation, isIndex }) => (isIndex === true ? 0 : rowTypeOf(relation)),
    relowner: () => OWNER,
    relam: ({ relation, isIndex }) => (isIndex === true ? BTREE : relation.kind === 'VIEW' ? 0 : HEAP),
    relfilenode: ({ relation, isIndex }) =>
      relation.kind === 'VIEW' ? 0 : isIndex === true ? indexOf(relation) : relation.oid,
    reltuples: ({ relation, isIndex }) => (isIndex === true || relation.rows === null ? -1 : Number(relation.rows)),
    relhasindex: ({ relation, isIndex }) => isIndex !== true && keysOf(relation).length > 0,
    relpersistence: () => 'p',
    relkind: ({ relation, isIndex }) => (isIndex === true ? 'i' : relationKind(relation)),
    relnatts: ({ relation, isIndex }) => (isIndex === true ? keysOf(relation).length : columnsOf(relation).length),
    relhasrules: ({ relation, isIndex }) => isIndex !== true && relation.kind !== 'TABLE',
    relrowsecurity: ({ relation, isIndex }) => isIndex !== true && isPoliced(relation),
    relispopulated: () => true,
    relreplident: ({ isIndex }) => (isIndex === true ? 'n' : 'd'),
  },
};

const ATTRIBUTE: PgView = {
  rows: (relation) => [
    ...columnsOf(relation).map((column) => ({ relation, column })),
    ...keysOf(relation).map((column, i) => ({ relation, column: { ...column, number: i + 1 }, isIndex: true })),
  ],
  values: {
    attrelid: ({ relation, isIndex }) => (isIndex === true ? indexOf(relation) : relation.oid),
    attname: ({ column }) => column?.field.name ?? '',
    atttypid: ({ column }) => column?.type.oid ?? 0,
    attlen: ({ column }) => column?.type.length ?? 0,
    attnum: ({ column }) => column?.number ?? 0,
    atttypmod: ({ column }) => column?.type.typmod ?? -1,
    attndims: ({ column }) => (column?.type.isArray === true ? 1 : 0),
    attbyval: ({ column }) => column?.type.isByValue ?? false,
    attalign: ({ column }) => column?.type.align ?? 'i',
    attstorage: ({ column }) => column?.type.storage ?? 'p',
    attcollation: ({ column }) => column?.type.collation ?? 0,
    attnotnull: ({ column, isIndex }) => isIndex !== true && column?.field.required === true,
    atthasdef: ({ column, isIndex }) => isIndex !== true && hasDefault(column),
    attislocal: () => true,
    attstattarget: () => null,
  },
};

const hasDefault = (column: Column | undefined): boolean => columnDefault(column?.field.writeDefault) !== null;

const ATTRDEF: PgView = {
  rows: (relation) =>
    columnsOf(relation)
      .filter(hasDefault)
      .map((column) => ({ relation, column })),
  values: {
    oid: ({ relation }) => defaultOf(relation),
    adrelid: ({ relation }) => relation.oid,
    adnum: ({ column }) => column?.number ?? 0,
    adbin: ({ column }) => columnDefault(column?.field.writeDefault),
  },
};

const INDEX: PgView = {
  rows: withKey,
  values: {
    indexrelid: ({ relation }) => indexOf(relation),
    indrelid: ({ relation }) => relation.oid,
    indnatts: ({ relation }) => keysOf(relation).length,
    indnkeyatts: ({ relation }) => keysOf(relation).length,
    indisunique: () => true,
    indisprimary: () => true,
    indimmediate: () => true,
    indisvalid: () => true,
    indisready: () => true,
    indislive: () => true,
    indkey: keyNumbers,
    indcollation: ({ relation }) => pgList(keysOf(relation).map(({ type }) => type.collation)),
    indclass: ({ relation }) => pgList(keysOf(relation).map(() => INT_OPERATORS)),
    indoption: ({ relation }) => pgList(keysOf(relation).map(() => 0)),
  },
};

const constraintNumber = ({ relation, column }: Of): number =>
  column === undefined ? constraintOf(relation) : notNullOf(relation, column);
const constraintName = ({ relation, column }: Of): string =>
  column === undefined ? keyName(relation) : `${relation.name}_${column.field.name}_not_null`;

const CONSTRAINT: PgView = {
  rows: withConstraints,
  values: {
    oid: constraintNumber,
    conname: constraintName,
    connamespace: ({ relation }) => relation.namespaceOid,
    contype: ({ isNotNull }) => (isNotNull === true ? 'n' : 'p'),
    convalidated: () => true,
    conenforced: () => true,
    conrelid: ({ relation }) => relation.oid,
    conindid: ({ relation, isNotNull }) => (isNotNull === true ? 0 : indexOf(relation)),
    confupdtype: () => ' ',
    confdeltype: () => ' ',
    confmatchtype: () => ' ',
    conislocal: () => true,
    connoinherit: ({ isNotNull }) => isNotNull !== true,
    conkey: (of) => (of.column === undefined ? keyNumbers(of) : pgList([of.column.number])),
  },
};

const indexDefinition = (relation: ToldRelation, schema: string): string =>
  `CREATE UNIQUE INDEX ${quoted(keyName(relation))} ON ${schema}${quoted(relation.name)} USING btree (${keyColumns(relation)})`;

const KEYS: PgView = {
  rows: withConstraints,
  values: {
    conoid: constraintNumber,
    indexrelid: ({ relation, isNotNull }) => (isNotNull === true ? null : indexOf(relation)),
    condef: ({ relation, column }) =>
      column === undefined ? `PRIMARY KEY (${keyColumns(relation)})` : `NOT NULL ${quoted(column.field.name)}`,
    indexdef: ({ relation }) => indexDefinition(relation, `${quoted(relation.schema)}.`),
    shortdef: ({ relation }) => indexDefinition(relation, ''),
    schema: ({ relation }) => relation.schema,
    columns: ({ relation }) => pgList(keysOf(relation).map(({ field }) => quoted(field.name))),
  },
};

/** Columns that say when something was done to a table. */
const TIMES_OF_WORK = [
  'last_seq_scan',
  'last_idx_scan',
  'last_vacuum',
  'last_autovacuum',
  'last_analyze',
  'last_autoanalyze',
];

const DESCRIPTION: PgView = {
  rows: (relation) => [
    ...(relation.comment === null ? [] : [{ relation }]),
    ...columnsOf(relation).flatMap((column) => (column.field.doc === undefined ? [] : [{ relation, column }])),
  ],
  values: {
    objoid: ({ relation }) => relation.oid,
    classoid: () => pgRelationNumber('pg_class') ?? 0,
    objsubid: ({ column }) => column?.number ?? 0,
    description: ({ relation, column }) => (column === undefined ? relation.comment : (column.field.doc ?? null)),
  },
};

/** The types of rows. */
const TYPE: PgView = {
  rows: itself,
  values: {
    oid: ({ relation }) => rowTypeOf(relation),
    typname: ({ relation }) => relation.name,
    typnamespace: ({ relation }) => relation.namespaceOid,
    typowner: () => OWNER,
    typlen: () => -1,
    typtype: () => 'c',
    typcategory: () => 'C',
    typisdefined: () => true,
    typdelim: () => ',',
    typrelid: ({ relation }) => relation.oid,
    typinput: () => procedure('record_in'),
    typoutput: () => procedure('record_out'),
    typreceive: () => procedure('record_recv'),
    typsend: () => procedure('record_send'),
    typalign: () => 'd',
    typstorage: () => 'x',
    typtypmod: () => -1,
  },
};

/** Numbers of Postgres' procedures that were asked for. */
const procedures = new Map<string, number>();

function procedure(name: string): number {
  const known = procedures.get(name) ?? Number(pgBuiltinRows('pg_proc').find((row) => row[1] === name)?.[0] ?? 0);
  procedures.set(name, known);
  return known;
}

/** The rule of a view, by which tools know one. */
const REWRITE: PgView = {
  rows: ofKind('VIEW', 'MATERIALIZED VIEW'),
  values: {
    oid: ({ relation }) => ruleOf(relation),
    rulename: () => '_RETURN',
    ev_class: ({ relation }) => relation.oid,
    ev_type: () => '1',
    ev_enabled: () => 'O',
    is_instead: () => true,
  },
};

/** One object needs another: numbers of the relations that describe both, of both, and of the column that is needed. */
type Need = {
  readonly of: readonly [relation: string, number: number];
  readonly needs: readonly [relation: string, number: number];
  readonly column?: number;
  /** `n` normal, `a` automatic, `i` internal. */
  readonly how: 'n' | 'a' | 'i';
};

/** As Postgres has them: a table lies in a schema; its key is of its columns, the index of the key, the type of rows and the rule of a view theirs. */
function needsOf(relation: ToldRelation): readonly Need[] {
  const itself = ['pg_class', relation.oid] as const;
  const key = ['pg_constraint', constraintOf(relation)] as const;
  const keys = keysOf(relation);
  return [
    { of: itself, needs: ['pg_namespace', relation.namespaceOid], how: 'n' },
    { of: ['pg_type', rowTypeOf(relation)], needs: itself, how: 'i' },
    ...(relation.kind === 'TABLE' ? [] : [{ of: ['pg_rewrite', ruleOf(relation)], needs: itself, how: 'i' } as const]),
    ...keys.map(({ number }) => ({ of: key, needs: itself, column: number, how: 'a' }) as const),
    ...(keys.length === 0 ? [] : [{ of: ['pg_class', indexOf(relation)], needs: key, how: 'i' } as const]),
  ];
}

const DEPEND: PgView = {
  rows: (relation) => needsOf(relation).map((need) => ({ relation, need })),
  values: {
    classid: ({ need }) => pgRelationNumber(need?.of[0] ?? '') ?? 0,
    objid: ({ need }) => need?.of[1] ?? 0,
    objsubid: () => 0,
    refclassid: ({ need }) => pgRelationNumber(need?.needs[0] ?? '') ?? 0,
    refobjid: ({ need }) => need?.needs[1] ?? 0,
    refobjsubid: ({ need }) => need?.column ?? 0,
    deptype: ({ need }) => need?.how ?? 'n',
  },
};

/** The rows that a table has by its summary; nothing else of what happens to it is counted. */
const STATISTICS: PgView = {
  rows: ofKind('TABLE', 'MATERIALIZED VIEW'),
  values: {
    relid: ({ relation }) => relation.oid,
    schemaname: ({ relation }) => relation.schema,
    relname: ({ relation }) => relation.name,
    n_live_tup: ({ relation }) => (relation.rows === null ? 0 : Number(relation.rows)),
    ...Object.fromEntries(TIMES_OF_WORK.map((name) => [name, () => null])),
  },
};

/** Columns of the views of INFORMATION_SCHEMA. */
const placed: Values = {
  constraint_catalog: (_of, { catalog }) => catalog,
  constraint_schema: ({ relation }) => relation.schema,
  constraint_name: constraintName,
  table_catalog: (_of, { catalog }) => catalog,
  table_schema: ({ relation }) => relation.schema,
  table_name: ({ relation }) => relation.name,
  column_name: ({ column }) => column?.field.name ?? null,
};
/** A row for each column of the key. */
const keyColumnsOf = (relation: ToldRelation): readonly Of[] =>
  keysOf(relation).map((column, i) => ({ relation, column: { ...column, number: i + 1 } }));
const ofKey: Values = { ...placed, constraint_name: ({ relation }) => keyName(relation) };

/** Relations that only clients of Postgres' protocol read, by names with their schema; there are no foreign keys and no routines. */
const INFORMATION_SCHEMA: Readonly<Record<string, PgView>> = {
  'information_schema.table_constraints': {
    rows: withConstraints,
    values: {
      ...placed,
      constraint_type: ({ isNotNull }) => (isNotNull === true ? 'CHECK' : 'PRIMARY KEY'),
      is_deferrable: () => 'NO',
      initially_deferred: () => 'NO',
      enforced: () => 'YES',
    },
  },
  'information_schema.check_constraints': {
    rows: notNulls,
    values: { ...placed, check_clause: ({ column }) => `${quoted(column?.field.name ?? '')} IS NOT NULL` },
  },
  'information_schema.key_column_usage': {
    rows: keyColumnsOf,
    values: {
      ...ofKey,
      ordinal_position: ({ column }) => column?.number ?? null,
      position_in_unique_constraint: () => null,
    },
  },
  'information_schema.constraint_column_usage': { rows: keyColumnsOf, values: ofKey },
};

const owned = { schemaname: ({ relation }: Of) => relation.schema };

/** By the names of relations; others have no rows of tables and views. */
export const PG_VIEWS: Readonly<Record<string, PgView>> = {
  pg_class: CLASS,
  pg_attribute: ATTRIBUTE,
  pg_attrdef: ATTRDEF,
  pg_index: INDEX,
  pg_constraint: CONSTRAINT,
  pg_description: DESCRIPTION,
  pg_type: TYPE,
  pg_rewrite: REWRITE,
  pg_depend: DEPEND,
  pg_stat_all_tables: STATISTICS,
  pg_stat_user_tables: STATISTICS,
  pg_statio_all_tables: STATISTICS,
  pg_statio_user_tables: STATISTICS,
  skein_keys: KEYS,
  skein_views: {
    rows: ofKind('VIEW', 'MATERIALIZED VIEW'),
    values: {
      oid: ({ relation }) => relation.oid,
      definition: ({ relation }, { definitions }) => definitions.get(relation.oid) ?? null,
    },
  },
  ...INFORMATION_SCHEMA,
  skein_sizes: {
    rows: itself,
    values: {
      oid: ({ relation }) => relation.oid,
      bytes: ({ relation }) => (relation.bytes === null ? null : BigInt(relation.bytes)),
    },
  },
  pg_tables: {
    rows: ofKind('TABLE'),
    values: {
      ...owned,
      tablename: ({ relation }) => relation.name,
      tableowner: ({ relation }) => relation.owner,
      hasindexes: ({ relation }) => keysOf(relation).length > 0,
      rowsecurity: ({ relation }) => isPoliced(relation),
    },
  },
  pg_views: {
    rows: ofKind('VIEW'),
    values: {
      ...owned,
      viewname: ({ relation }) => relation.name,
      viewowner: ({ relation }) => relation.owner,
      definition: ({ relation }, { definitions }) => definitions.get(relation.oid) ?? null,
    },
  },
  pg_matviews: {
    rows: ofKind('MATERIALIZED VIEW'),
    values: {
      ...owned,
      matviewname: ({ relation }) => relation.name,
      matviewowner: ({ relation }) => relation.owner,
      ispopulated: () => true,
      definition: ({ relation }, { definitions }) => definitions.get(relation.oid) ?? null,
    },
  },
  pg_indexes: {
    rows: withKey,
    values: {
      ...owned,
      tablename: ({ relation }) => relation.name,
      indexname: ({ relation }) => keyName(relation),
      indexdef: ({ relation }) => indexDefinition(relation, `${quoted(relation.schema)}.`),
    },
  },
};
