import { defaultCatalog } from '#shared/default-catalog.ts';
import type { TenantId } from '#shared/id.ts';
import type { CatalogContext } from '../context.ts';
import { listCatalogs } from '../store/postgres/catalog-store.ts';
import { catalogsWithTables } from '../store/postgres/table-catalogs.ts';
import type { MultiTableCommit } from './multi-table-commit.ts';

/**
 * Gives a transaction that names no catalog those of its tables. A change that requires a UUID belongs to the catalog that has a table of
 * its name with this UUID. The others go with them if they all are of one catalog, and else to the tenant's default catalog.
 */
export async function inTheirCatalogs(
  { config, store: { db } }: Pick<CatalogContext, 'config' | 'store'>,
  tenant: TenantId,
  transaction: MultiTableCommit,
): Promise<MultiTableCommit> {
  const nameless = transaction.changes.filter((change) => change.catalog === undefined);
  if (transaction.catalog !== undefined || nameless.length === 0) return transaction;
  const own = defaultCatalog(await listCatalogs(db, tenant), config['bootstrap.catalog']);
  const required = nameless.flatMap(({ ident, uuid }) => (uuid === undefined ? [] : [{ ident, uuid }]));
  const places = await catalogsWithTables(db, tenant, required);
  const chosen = new Map(
    required.map(({ ident }, i) => {
      const having = places[i] ?? [];
      return [ident, own !== undefined && having.includes(own) ? own : having[0]];
    }),
  );
  const changes = transaction.changes.map((change) => ({
    ...change,
    catalog: change.catalog ?? chosen.get(change.ident),
  }));
  const [first, ...further] = new Set(chosen.values());
  return { ...transaction, catalog: further.length === 0 ? (first ?? own) : own, changes };
}
