import { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';
import { nearestName } from '#shared/nearest-name.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { Caller } from '../auth/authenticate.ts';
import { schemaName } from '../catalog-client/catalog-browser.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import { firstOf } from '../catalog-client/pages.ts';
import type { MissingCode, TableName, TableSource } from '../resolver/table-source.ts';

/** The tables that a caller may read. */
export const callersTables = (client: CatalogClient, caller: Caller): TableSource => ({
  ...client.tablesFor(caller.claims.tenant, caller.claims.sub),
  nearest: (name, missing) => nearName(client, caller, { name, missing }),
});

/** Names of schemas, or of tables in one schema, that are compared, and schemas that are searched for a table of the same name. */
const NAMES_MAX = 2_000;
const SCHEMAS_MAX = 16;
/** Names that are asked for in each of these. */
const OTHER_TABLES_MAX = 500;

/**
 * The name that a missing one may have been meant for, as it would be written; undefined when there is none near. It comes from the lists
 * that SHOW CATALOGS, SHOW SCHEMAS and SHOW TABLES give this caller, and from no other: without the scope of one there is no name of it.
 */
async function nearName(
  client: CatalogClient,
  { claims, scopes }: Caller,
  { name, missing }: { readonly name: TableName; readonly missing: MissingCode },
): Promise<string | undefined> {
  const { tenant } = claims;
  const { catalog, namespace, table } = name;
  try {
    switch (missing) {
      case 'CATALOG_NOT_FOUND':
        return scopes.has('catalog:read') ? nearestName(catalog, await client.listCatalogs(tenant)) : undefined;
      case 'SCHEMA_NOT_FOUND': {
        if (!scopes.has('namespace:read')) return undefined;
        const schemas = (await firstOf(client.listNamespaces(tenant, catalog), NAMES_MAX)).map(schemaName);
        const near = nearestName(schemaName(namespace), schemas);
        return near === undefined ? undefined : `${catalog}.${near}`;
      }
      case 'TABLE_NOT_FOUND': {
        if (!scopes.has('table:read')) return undefined;
        const near = nearestName(table, await firstOf(client.listTables(tenant, catalog, namespace), NAMES_MAX));
        if (near !== undefined) return [catalog, ...namespace, near].join('.');
        return scopes.has('namespace:read') ? await inOtherSchema(client, tenant, name) : undefined;
      }
      default:
        return unreachable(missing);
    }
  } catch (error) {
    // The list may be of a schema that has gone meanwhile: no hint is better than another error.
    if (error instanceof SkeinError) return undefined;
    throw error;
  }
}

/** A table of the same name in another schema of the catalog. */
async function inOtherSchema(
  client: CatalogClient,
  tenant: Caller['claims']['tenant'],
  { catalog, namespace, table }: TableName,
): Promise<string | undefined> {
  const here = schemaName(namespace);
  const schemas = await firstOf(client.listNamespaces(tenant, catalog), SCHEMAS_MAX + 1);
  const others = schemas.filter((one) => schemaName(one) !== here);
  const wanted = foldIdentifier(table);
  const lists = others.slice(0, SCHEMAS_MAX).map(async (schema) => {
    const names = await firstOf(client.listTables(tenant, catalog, schema), OTHER_TABLES_MAX);
    const found = names.find((one) => foldIdentifier(one) === wanted);
    return found === undefined ? undefined : [catalog, ...schema, found].join('.');
  });
  return (await Promise.all(lists)).find((one) => one !== undefined);
}
