import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** A relation of Postgres' catalog: its columns with their types in Postgres, and the rows of what is built in, as texts. */
export type PgRelation = {
  readonly columns: readonly (readonly [name: string, type: string])[];
  readonly rows?: readonly (readonly (string | null)[])[];
};

/** The file that `npm run pg:builtins` has made of the real Postgres. */
type PgBuiltins = { readonly version: string; readonly relations: Readonly<Record<string, PgRelation>> };

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
  'pg_catalog.skein_sizes': {
    columns: [
      ['oid', 'oid'],
      ['bytes', 'int8'],
    ],
  },
};

/** Read when it is first asked for: most processes never are. */
let read: PgBuiltins | undefined;

function builtins(): PgBuiltins {
  read ??= JSON.parse(
    gunzipSync(readFileSync(join(import.meta.dirname, 'pg-builtins.json.gz'))).toString(),
  ) as PgBuiltins;
  return read;
}

/** The relation of a schema and a name, both folded. */
export function pgRelation(schema: string, name: string): PgRelation | undefined {
  if (schema !== 'pg_catalog' && schema !== 'information_schema') return undefined;
  const key = `${schema}.${name}`;
  if (Object.hasOwn(OWN, key)) return OWN[key];
  const { relations } = builtins();
  return Object.hasOwn(relations, key) ? relations[key] : undefined;
}

/** The number of a relation of Postgres' own. */
export function pgRelationNumber(name: string): number | undefined {
  const rows = pgRelation('pg_catalog', 'pg_class')?.rows ?? [];
  const row = rows.find((one) => one[1] === name);
  return row === undefined ? undefined : Number(row[0]);
}
