import type { Config } from '#shared/config/config-schema.ts';
import type { MadeValue } from '#shared/made-type.ts';
import { SkeinError } from '#shared/error.ts';
import { mayDo } from '../auth/authenticate.ts';
import { OF_RELATION, OF_SCHEMA, type PgRowsRequest } from '../binding/pg-rows.ts';
import type { TableSource } from '../binding/table-source.ts';
import { schemaName } from '../catalog-client/catalog-browser.ts';
import type { CatalogList, WantedPlaces } from '../catalog-client/relation-lists.ts';
import type { ViewParts } from './schema-view-rows.ts';
import { rightsRows } from './rights-rows.ts';
import { settingRows } from './setting-rows.ts';

export type PgParts = ViewParts & {
  /** The tables and views that the caller may read. */
  readonly tables: Pick<TableSource, 'loadTables'>;
  /** Connections and statements that the caller may see, as rows of `pg_stat_activity`. */
  readonly activity: () => readonly PgRow[];
  readonly config: Config;
};

type PgRow = Readonly<Record<string, MadeValue>>;
export type Fixed = readonly PgRow[];

/** Numbers below are of Postgres' own objects. */
export const FIRST_OWN = 16_384;

/** Numbers of the relations that describe tables and schemas, as texts. */
export const OF_RELATIONS = '1259';
const OF_SCHEMAS = '2615';

/** The session's catalog as far as the caller may list it; empty when it has none. */
export async function listOf(
  { names, caller, session, catalog }: PgParts,
  signal: AbortSignal,
  wanted: WantedPlaces,
): Promise<{ readonly catalog: string; readonly list: CatalogList }> {
  const { catalog: current } = await names.current(caller, session);
  const nothing = { catalog: current, list: { blocks: [], schemas: [] } };
  if (current === '') return nothing;
  try {
    return { catalog: current, list: await catalog.listCatalog(caller.claims, current, signal, wanted) };
  } catch (error) {
    if (error instanceof SkeinError && error.code === 'CATALOG_NOT_FOUND') return nothing;
    throw error;
  }
}

/** The number of the caller's role: everything is its own. */
const ROLE = 10;
/**
 * The number of the database that the session is in: no object has it, because those take five of every eight (`pg-objects.ts`). pgAdmin shows no
 * database whose number is one of Postgres' own.
 */
const DATABASE = FIRST_OWN + 7;

/** The rows of relations that are of no table or view. */
export async function fixedRows(name: string, parts: PgParts, signal: AbortSignal): Promise<Fixed | undefined> {
  const { caller } = parts;
  const user = caller.claims.preferred_username;
  switch (name) {
    case 'pg_namespace': {
      if (!mayDo(caller, 'schema.list')) return [];
      const { list } = await listOf(parts, signal, { schemasAlone: true });
      return list.schemas.map(({ levels, oid }) => ({ oid, nspname: schemaName(levels), nspowner: ROLE }));
    }
    case 'pg_database': {
      const { catalog: datname } = await parts.names.current(caller, parts.session);
      const text = { datcollate: 'C', datctype: 'C', datlocprovider: 'c', datallowconn: true, datconnlimit: -1 };
      return datname === ''
        ? []
        : [{ oid: DATABASE, datname, datdba: ROLE, encoding: 6, dattablespace: 1663, ...text }];
    }
    case 'pg_roles':
    case 'pg_authid':
      return [{ oid: ROLE, rolname: user, rolinherit: true, rolcanlogin: true, rolconnlimit: -1 }];
    case 'pg_user':
    case 'pg_shadow':
      return [{ usename: user, usesysid: ROLE }];
    case 'information_schema.information_schema_catalog_name': {
      const { catalog } = await parts.names.current(caller, parts.session);
      return [{ catalog_name: catalog }];
    }
    case 'information_schema.enabled_roles':
      return [{ role_name: user }];
    case 'skein_rights':
      return rightsRows(caller);
    case 'pg_settings':
      return settingRows(parts.session, parts.config);
    case 'pg_stat_database': {
      const { catalog: datname } = await parts.names.current(caller, parts.session);
      return datname === '' ? [] : [{ datid: DATABASE, datname, numbackends: parts.activity().length, ...UNCOUNTED }];
    }
    case 'pg_stat_activity': {
      const { catalog: datname } = await parts.names.current(caller, parts.session);
      return parts.activity().map((row) => ({ ...NO_ACTIVITY, datid: DATABASE, datname, usesysid: ROLE, ...row }));
    }
    default:
      return undefined;
  }
}

/** Columns of `pg_stat_database` that Postgres leaves empty where nothing has happened. */
const UNCOUNTED: PgRow = { checksum_failures: null, checksum_last_failure: null, stats_reset: null };

/** Columns of `pg_stat_activity` that say nothing here: NULL, as Postgres has it, in place of the default of their type. */
const NO_ACTIVITY: PgRow = {
  leader_pid: null,
  backend_xid: null,
  backend_xmin: null,
  query_id: null,
  query_start: null,
  xact_start: null,
  state_change: null,
  backend_start: null,
  client_port: null,
};

/** The rows of `pg_description` for comments on schemas, unless the query wants those of tables alone. */
export async function schemaComments(
  filters: PgRowsRequest['filters'],
  parts: PgParts,
  signal: AbortSignal,
): Promise<Fixed> {
  const isOfTables = filters[OF_RELATION] !== undefined || filters[OF_SCHEMA] !== undefined;
  if (isOfTables || filters['classoid']?.includes(OF_SCHEMAS) === false || !mayDo(parts.caller, 'schema.list'))
    return [];
  const { list } = await listOf(parts, signal, { schemasAlone: true });
  const numbers = filters['objoid'];
  return list.schemas.flatMap(({ oid, comment }) =>
    comment === null || numbers?.includes(String(oid)) === false
      ? []
      : [{ objoid: oid, classoid: Number(OF_SCHEMAS), objsubid: 0, description: comment }],
  );
}
