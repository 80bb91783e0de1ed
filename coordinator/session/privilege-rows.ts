import { pgBuiltinRows, pgRelation } from '../binding/pg-relations.ts';
import type { MadeValue } from '#shared/made-type.ts';
import type { Beside, PgView, ToldRelation } from './pg-objects.ts';
import type { CallersRights } from './rights-rows.ts';

/** Privileges of a whole table that INFORMATION_SCHEMA has a word for, and those of a column. */
const OF_TABLE: ReadonlySet<string> = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']);
const OF_COLUMN: ReadonlySet<string> = new Set(['SELECT', 'INSERT', 'UPDATE']);

/** The privileges that a table or view has rows of; INFORMATION_SCHEMA tells of no materialized view. */
function granted({ kind }: ToldRelation, { rights }: Beside, known: ReadonlySet<string>): readonly string[] {
  const all = kind === 'TABLE' ? rights.privileges['r'] : kind === 'VIEW' ? rights.privileges['v'] : [];
  return (all ?? []).filter((privilege) => known.has(privilege));
}

const values: PgView['values'] = {
  grantor: (_of, { rights }) => rights.user,
  grantee: (_of, { rights }) => rights.user,
  table_catalog: (_of, { catalog }) => catalog,
  table_schema: ({ relation }) => relation.schema,
  table_name: ({ relation }) => relation.name,
  column_name: ({ column }) => column?.field.name ?? null,
  privilege_type: ({ privilege }) => privilege ?? null,
  is_grantable: () => 'NO',
  with_hierarchy: ({ privilege }) => (privilege === 'SELECT' ? 'YES' : 'NO'),
};

const OF_TABLES: PgView = {
  rows: (relation, beside) => granted(relation, beside, OF_TABLE).map((privilege) => ({ relation, privilege })),
  values,
};

const OF_COLUMNS: PgView = {
  rows: (relation, beside) => {
    const privileges = granted(relation, beside, OF_COLUMN);
    return relation
      .facts()
      .columns.flatMap((column) => privileges.map((privilege) => ({ relation, column, privilege })));
  },
  values,
};

/** Relations of INFORMATION_SCHEMA that tell of the caller's privileges. */
export const PRIVILEGE_VIEWS: Readonly<Record<string, PgView>> = {
  'information_schema.table_privileges': OF_TABLES,
  'information_schema.role_table_grants': OF_TABLES,
  'information_schema.column_privileges': OF_COLUMNS,
  'information_schema.role_column_grants': OF_COLUMNS,
};

const SCHEMAS: Readonly<Record<string, string>> = { 11: 'pg_catalog' };

/** Whether a list of rights, `{a=r/b,=r/b}`, lets everybody read: such a right has no name before its sign. */
const isOfEverybody = (list: string): boolean =>
  list
    .replace('{', '')
    .split(',')
    .some((one) => one.startsWith('=') && (one.split('/')[0] ?? '').includes('r'));

/** The rows of `table_privileges` of Postgres' own relations, which everybody may read. */
export function publicGrants({ user }: CallersRights, catalog: string): readonly Readonly<Record<string, MadeValue>>[] {
  const columns = (pgRelation('pg_catalog', 'pg_class')?.columns ?? []).map(([name]) => name);
  const [name, namespace, rights] = ['relname', 'relnamespace', 'relacl'].map((one) => columns.indexOf(one));
  return pgBuiltinRows('pg_class')
    .filter((row) => isOfEverybody(row[rights ?? -1] ?? ''))
    .map((row) => ({
      grantor: user,
      grantee: 'PUBLIC',
      table_catalog: catalog,
      table_schema: SCHEMAS[row[namespace ?? -1] ?? ''] ?? 'information_schema',
      table_name: row[name ?? -1] ?? null,
      privilege_type: 'SELECT',
      is_grantable: 'NO',
      with_hierarchy: 'YES',
    }));
}
