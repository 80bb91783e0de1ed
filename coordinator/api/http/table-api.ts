import { managesPolicies, type Caller } from '../../auth/authenticate.ts';
import {
  fieldsOf,
  listAllTables,
  loadOneTable,
  partitionExpressions,
  recordCount,
  type TableEntry,
} from '../../catalog-client/catalog-browser.ts';
import type { CatalogClient } from '../../catalog-client/catalog-client.ts';
import type { Pages } from '../../catalog-client/pages.ts';
import { namespaceLevels, type TablePath } from '../../inspect/found-table.ts';
import { showsFigures } from '../../operation/policed-table.ts';
import { callersTables } from '../../session/callers-tables.ts';
import type { SessionKey } from '../../session/session-store.ts';
import type { TableMetadata } from './api-types.ts';
import { sqlTypeName } from '../../session/sql-type-name.ts';

export interface TableApi {
  /** The tables of the session's current catalog. */
  list(caller: Caller, session: SessionKey): Pages<TableEntry>;
  /** @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND, TABLE_NOT_FOUND */
  describe(caller: Caller, path: TablePath): Promise<TableMetadata>;
}

type Options = {
  readonly catalog: CatalogClient;
  readonly currentCatalog: (caller: Caller, session: SessionKey) => Promise<string>;
};

const CALL_TIMEOUT_MS = 30_000;

export function tableApi({ catalog, currentCatalog }: Options): TableApi {
  return {
    list: async function* (caller, session) {
      const current = await currentCatalog(caller, session);
      if (current !== '') yield* listAllTables(catalog, caller.claims, current);
    },
    describe: async (caller, path) => {
      const name = { catalog: path.catalog, namespace: namespaceLevels(path.namespace), table: path.table };
      const source = callersTables(catalog, caller);
      const {
        metadata,
        name: stored,
        policies,
      } = await loadOneTable(source, name, AbortSignal.timeout(CALL_TIMEOUT_MS));
      return {
        name: stored.table,
        schema: {
          fields: fieldsOf(metadata).map((field) => ({
            name: field.name,
            type: sqlTypeName(field.type),
            nullable: !field.required,
          })),
        },
        partition_spec: partitionExpressions(metadata),
        snapshot_count: metadata.snapshots.size,
        record_count: showsFigures({ policies }, managesPolicies(caller)) ? recordCount(metadata) : null,
      };
    },
  };
}
