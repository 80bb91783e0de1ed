import type { Scope } from '#shared/authorization/token-claims.ts';

/**
 * Operation, the scope or scopes that it needs (null: not even a token), and the status of a good request with these alone and with every scope
 * but one of them. `scope-matrix.test.ts` sends each to a real catalog; it fails when an operation has no line here.
 */
type Line = readonly [
  operation: string,
  scope: Scope | `${Scope} ${string}` | null,
  withScope: number,
  withoutScope: number,
];

export const SCOPE_MATRIX: readonly Line[] = [
  ['getConfig', null, 200, 200],
  ['getToken', null, 200, 200],
  ['getHealth', null, 200, 200],
  ['getReadiness', null, 200, 200],
  ['getMetrics', null, 200, 200],
  ['getJwks', null, 200, 200],
  ['getAuthorizationServer', null, 200, 200],
  ['revokeToken', null, 200, 200],

  ['listCatalogs', 'catalog:read', 200, 403],
  ['createCatalog', 'catalog:write', 200, 403],
  ['loadCatalog', 'catalog:read', 200, 403],
  ['dropCatalog', 'catalog:write', 204, 403],
  ['renameCatalog', 'catalog:write namespace:write table:write', 204, 403],

  ['listNamespaces', 'namespace:read', 200, 403],
  ['createNamespace', 'namespace:write', 200, 403],
  ['loadNamespaceMetadata', 'namespace:read', 200, 403],
  ['namespaceExists', 'namespace:read', 204, 403],
  ['dropNamespace', 'namespace:write', 204, 403],
  ['updateProperties', 'namespace:write', 200, 403],
  ['renameNamespace', 'namespace:write table:write', 204, 403],

  ['listTables', 'table:read', 200, 403],
  ['createTable', 'table:write', 200, 403],
  ['loadTable', 'table:read', 200, 403],
  ['tableExists', 'table:read', 204, 403],
  ['updateTable', 'table:write', 200, 403],
  ['dropTable', 'table:write', 204, 403],
  ['registerTable', 'table:write', 200, 403],
  ['renameTable', 'table:write', 204, 403],
  ['unregisterTable', 'table:write', 200, 403],
  ['undropTable', 'table:write', 200, 403],
  ['listDroppedTables', 'table:read', 200, 403],
  ['commitTransaction', 'table:write', 204, 403],
  ['commitAcrossCatalogs', 'table:write', 204, 403],

  ['loadCredentials', 'table:data', 200, 403],
  ['vendCredentials', 'table:data', 200, 403],
  ['loadCredentialsOfMany', 'table:data', 200, 403],

  // Its table is a local one, whose files need no signature; and none lies in a bucket.
  ['signRequest', 'table:data', 406, 403],
  ['signRequestByLocation', 'table:data', 404, 403],

  ['reportMetrics', 'table:read', 204, 403],
  ['listMetrics', 'table:read', 200, 403],
  ['planTableScan', 'table:read', 200, 403],
  ['fetchPlanningResult', 'table:read', 200, 403],
  ['cancelPlanning', 'table:read', 204, 403],
  ['fetchScanTasks', 'table:read', 200, 403],

  ['listFunctions', 'table:read', 200, 403],
  ['loadFunction', 'table:read', 200, 403],
  ['createFunction', 'table:write', 200, 403],
  ['dropFunction', 'table:write', 204, 403],

  ['listStages', 'table:read', 200, 403],
  ['createStage', 'namespace:write', 200, 403],
  ['dropStage', 'namespace:write', 204, 403],
  ['renameStage', 'namespace:write', 204, 403],

  ['listViews', 'table:read', 200, 403],
  ['createView', 'table:write', 200, 403],
  ['loadView', 'table:read', 200, 403],
  ['viewExists', 'table:read', 204, 403],
  ['replaceView', 'table:write', 200, 403],
  ['dropView', 'table:write', 204, 403],
  ['registerView', 'table:write', 200, 403],
  ['renameView', 'table:write', 204, 403],
];

/**
 * Operations on a table with policies, and the status of a good request with every scope: 403 for all that give files, metadata or counts, or change
 * them. It fails when an operation that names a table has no line here.
 */
export const POLICED_MATRIX: readonly (readonly [operation: string, status: number])[] = [
  ['loadTable', 403],
  ['tableExists', 204],
  ['updateTable', 403],
  ['dropTable', 204],
  ['renameTable', 204],
  ['unregisterTable', 403],
  ['undropTable', 403],
  ['commitTransaction', 403],
  ['commitAcrossCatalogs', 403],
  ['loadCredentials', 403],
  ['vendCredentials', 403],
  // Each table of the request has an answer of its own.
  ['loadCredentialsOfMany', 200],
  ['signRequest', 403],
  ['reportMetrics', 403],
  ['listMetrics', 403],
  ['planTableScan', 403],
  ['fetchPlanningResult', 403],
  // It ends a plan, and answers nothing of it.
  ['cancelPlanning', 204],
  ['fetchScanTasks', 403],
];
