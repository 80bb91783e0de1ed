import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';
import { nearestName } from '#shared/nearest-name.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { mayDo, type Caller } from '../auth/authenticate.ts';
import { schemaName } from '../catalog-client/catalog-browser.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import { firstOf } from '../catalog-client/pages.ts';
import type { MissingCode, TableName, TableSource } from '../binding/table-source.ts';

/** The tables that a caller may read. */
export const callersTables = (client: CatalogClient, caller: Caller): TableSource => ({
  ...client.tablesFor(caller.claims),
  nearest: (name, missing) => nearName(client, caller, { name, missing }),
});

/**
 * Limits of the search for a similar name: names of schemas, or of tables in one schema, that are compared, and schemas that are searched
 * for a table of the same name.
 */
const NAMES_MAX = 2_000;
const SCHEMAS_MAX = 16;
/** Tables that are listed in each of these schemas. */
const OTHER_TABLES_MAX = 500;

/**
 * Returns a name similar to a missing one, qualified as a statement would write it; undefined when there is none. It is taken only from
 * what SHOW CATALOGS, SHOW SCHEMAS and SHOW TABLES list for this caller, so that a hint reveals no other name.
 */
async function nearName(
  client: CatalogClient,
  caller: Caller,
  { name, missing }: { readonly name: TableName; readonly missing: MissingCode },
): Promise<string | undefined> {
  const { claims } = caller;
  const { catalog, namespace, table } = name;
  try {
    switch (missing) {
      case 'CATALOG_NOT_FOUND':
        return mayDo(caller, 'catalog.list')
          ? nearestName(catalog, await client.listCatalogs(claims, 'catalog.list'))
          : undefined;
      case 'SCHEMA_NOT_FOUND': {
        if (!mayDo(caller, 'schema.list')) return undefined;
        const schemas = await firstOf(client.listNamespaces(claims, catalog, 'schema.list'), NAMES_MAX);
        const near = nearestName(schemaName(namespace), schemas.map(schemaName));
        return near === undefined ? undefined : `${catalog}.${near}`;
      }
      case 'TABLE_NOT_FOUND': {
        if (!mayDo(caller, 'table.list')) return undefined;
        const near = nearestName(table, await firstOf(client.listTables(claims, catalog, namespace), NAMES_MAX));
        if (near !== undefined) return [catalog, ...namespace, near].join('.');
        return mayDo(caller, 'schema.list') ? await inOtherSchema(client, claims, name) : undefined;
      }
      default:
        return unreachable(missing);
    }
  } catch (error) {
    // The schema may have been dropped meanwhile: no hint is better than another error.
    if (error instanceof SkeinError) return undefined;
    throw error;
  }
}

/** A table of the same name in another schema of the catalog. */
async function inOtherSchema(
  client: CatalogClient,
  principal: Principal,
  { catalog, namespace, table }: TableName,
): Promise<string | undefined> {
  const here = schemaName(namespace);
  const schemas = await firstOf(client.listNamespaces(principal, catalog, 'schema.list'), SCHEMAS_MAX + 1);
  const others = schemas.filter((one) => schemaName(one) !== here);
  const wanted = foldIdentifier(table);
  const lists = others.slice(0, SCHEMAS_MAX).map(async (schema) => {
    const names = await firstOf(client.listTables(principal, catalog, schema), OTHER_TABLES_MAX);
    const found = names.find((one) => foldIdentifier(one) === wanted);
    return found === undefined ? undefined : [catalog, ...schema, found].join('.');
  });
  return (await Promise.all(lists)).find((one) => one !== undefined);
}
