import { CompiledQuery } from 'kysely';
import type { TenantId } from '#shared/id.ts';
import { LEVEL_SEPARATOR } from '../../metadata/object-name.ts';
import type { TableIdent } from '../../metadata/object-name.ts';
import type { Database } from './tables.ts';

/** The catalogs of a tenant that have a table of each name. */
const PLACES = `
  select w.place::int as place, c.name as catalog, t.id
  from unnest($2::text[], $3::text[]) with ordinality as w (path, name, place)
  join catalog.tenant o on o.name = $1
  join catalog.catalog c on c.tenant_id = o.id
  join catalog.namespace n on n.catalog_id = c.id and n.path = w.path
  join catalog.iceberg_table t on t.namespace_id = n.id and t.name = w.name
  order by c.name`;

/** Those of these tables whose document has the UUID that is asked for. */
const WITH_UUID = `
  select t.id from unnest($1::uuid[], $2::text[]) as w (id, uuid)
  join catalog.iceberg_table t on t.id = w.id and t.metadata ~* ('"table-uuid"\\s*:\\s*"' || w.uuid || '"')`;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Place = { readonly place: number; readonly catalog: string; readonly id: string };

/**
 * Returns, for each name and UUID, the names of the tenant's catalogs that have this table. Where only one catalog has a table of the name,
 * it is that one whatever its UUID is: the commit then says that the UUID differs.
 */
export async function catalogsWithTables(
  db: Database,
  tenant: TenantId,
  asked: readonly { readonly ident: TableIdent; readonly uuid: string }[],
): Promise<readonly (readonly string[])[]> {
  if (asked.length === 0) return [];
  const paths = asked.map(({ ident }) => ident.namespace.join(LEVEL_SEPARATOR));
  const names = asked.map(({ ident }) => ident.name);
  const { rows } = await db.executeQuery<Place>(CompiledQuery.raw(PLACES, [tenant, paths, names]));
  const places = asked.map((_, i) => rows.filter(({ place }) => place === i + 1));
  const unclear = places.flatMap((found, i) => {
    const { uuid = '' } = asked[i] ?? {};
    return found.length > 1 && UUID.test(uuid) ? found.map(({ id }) => ({ id, uuid })) : [];
  });
  const fitting = await tablesWithUuids(db, unclear);
  return places.map((found) =>
    (found.length > 1 ? found.filter(({ id }) => fitting.has(id)) : found).map(({ catalog }) => catalog),
  );
}

async function tablesWithUuids(
  db: Database,
  asked: readonly { readonly id: string; readonly uuid: string }[],
): Promise<ReadonlySet<string>> {
  if (asked.length === 0) return new Set();
  const parameters = [asked.map(({ id }) => id), asked.map(({ uuid }) => uuid)];
  const { rows } = await db.executeQuery<{ readonly id: string }>(CompiledQuery.raw(WITH_UUID, parameters));
  return new Set(rows.map(({ id }) => id));
}
