import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** A relation of Postgres' catalog: its columns with their types in Postgres; rows of what is built in are texts. */
export type PgRelation = { readonly columns: readonly (readonly [name: string, type: string])[] };

/** The columns that `npm run pg:builtins` has found in the real Postgres, and the numbers of its relations. */
type PgColumns = {
  readonly version: string;
  readonly oids: Readonly<Record<string, number>>;
  readonly columns: Readonly<Record<string, PgRelation['columns']>>;
};
type Rows = readonly (readonly (string | null)[])[];
type PgRows = Readonly<Record<string, Rows>>;

/** Relations of ours beside those of Postgres, which the texts of its functions read. */
const OWN: Readonly<Record<string, PgRelation>> = {
  'pg_catalog.skein_keys': {
    columns: [
      ['conoid', 'oid'],
      ['indexrelid', 'oid'],
      ['condef', 'text'],
      ['indexdef', 'text'],
      ['shortdef', 'text'],
      ['schema', 'text'],
      ['columns', '_text'],
    ],
  },
  'pg_catalog.skein_rights': {
    columns: [
      ['kind', 'char'],
      ['privileges', '_text'],
    ],
  },
  'pg_catalog.skein_views': {
    columns: [
      ['oid', 'oid'],
      ['definition', 'text'],
    ],
  },
  'pg_catalog.skein_sizes': {
    columns: [
      ['oid', 'oid'],
      ['bytes', 'int8'],
    ],
  },
};

/** Both are read when they are first asked for: most processes never are, and planners need no rows. */
let columnsRead: PgColumns | undefined;
let rowsRead: PgRows | undefined;

const columnsFile = (): PgColumns => (columnsRead ??= fileOf('pg-columns.json.gz') as PgColumns);
const rowsFile = (): PgRows => (rowsRead ??= fileOf('pg-rows.json.gz') as PgRows);
const fileOf = (name: string): unknown =>
  JSON.parse(gunzipSync(readFileSync(join(import.meta.dirname, name))).toString());

/** The relation of a schema and a name, both folded, without rows. */
export function pgRelation(schema: string, name: string): PgRelation | undefined {
  if (schema !== 'pg_catalog' && schema !== 'information_schema') return undefined;
  const key = `${schema}.${name}`;
  if (Object.hasOwn(OWN, key)) return OWN[key];
  const { columns } = columnsFile();
  const found = Object.hasOwn(columns, key) ? columns[key] : undefined;
  return found === undefined ? undefined : { columns: found };
}

/** The rows that a relation of `pg_catalog` has by itself. */
export function pgBuiltinRows(name: string): Rows {
  const rows = rowsFile();
  const key = `pg_catalog.${name}`;
  return Object.hasOwn(rows, key) ? (rows[key] ?? []) : [];
}

/** The number of a relation of Postgres' own. */
export function pgRelationNumber(name: string): number | undefined {
  const { oids } = columnsFile();
  return Object.hasOwn(oids, name) ? oids[name] : undefined;
}
