// long file: the table of all operations
import { ofCommittedTable, ofDroppedTable, ofNamedTable, ofRegistration, ofTransaction } from './files-gate.ts';
import { noContent, type Operation } from './rest-operation.ts';
import { createCatalog, createCatalogAgain } from './operation/catalog/create-catalog.ts';
import { dropCatalog } from './operation/catalog/drop-catalog.ts';
import { listCatalogsOperation } from './operation/catalog/list-catalogs.ts';
import { loadCatalog } from './operation/catalog/load-catalog.ts';
import { renameCatalog } from './operation/catalog/rename-catalog.ts';
import { getConfig } from './operation/config/get-config.ts';
import { getHealth } from './operation/health/get-health.ts';
import { getJwks } from './operation/health/get-jwks.ts';
import { getMetrics } from './operation/health/get-metrics.ts';
import { getReadiness } from './operation/health/get-readiness.ts';
import { createFunction, createFunctionAgain } from './operation/function/create-function.ts';
import { dropFunction } from './operation/function/drop-function.ts';
import { listFunctionsOperation } from './operation/function/list-functions.ts';
import { loadFunction } from './operation/function/load-function.ts';
import { listMetrics } from './operation/metrics/list-metrics.ts';
import { reportMetrics } from './operation/metrics/report-metrics.ts';
import { createNamespace, createNamespaceAgain } from './operation/namespace/create-namespace.ts';
import { dropNamespace } from './operation/namespace/drop-namespace.ts';
import { listNamespacesOperation } from './operation/namespace/list-namespaces.ts';
import { loadNamespace } from './operation/namespace/load-namespace.ts';
import { namespaceExists } from './operation/namespace/namespace-exists.ts';
import { renameNamespace } from './operation/namespace/rename-namespace.ts';
import { updateProperties, updatePropertiesAgain } from './operation/namespace/update-properties.ts';
import { createTable, createTableAgain } from './operation/table/create-table.ts';
import { dropTable } from './operation/table/drop-table.ts';
import { listDroppedTables } from './operation/table/list-dropped-tables.ts';
import { listTablesOperation } from './operation/table/list-tables.ts';
import { loadTable, loadTableAgain } from './operation/table/load-table.ts';
import { registerTable, registerTableAgain } from './operation/table/register-table.ts';
import { renameTable } from './operation/table/rename-table.ts';
import { tableExistsOperation } from './operation/table/table-exists.ts';
import { undropTableOperation, undropTableAgain } from './operation/table/undrop-table.ts';
import { unregisterTable } from './operation/table/unregister-table.ts';
import { updateTable } from './operation/table/update-table.ts';
import { createStage, createStageAgain } from './operation/stage/create-stage.ts';
import { dropStageOperation } from './operation/stage/drop-stage.ts';
import { renameStage } from './operation/stage/rename-stage.ts';
import { listStagesOperation } from './operation/stage/list-stages.ts';
import { getToken, TOKEN_BODY_BYTES_MAX } from './operation/token/get-token.ts';
import { getAuthorizationServer } from './operation/token/get-authorization-server.ts';
import { revokeToken } from './operation/token/revoke-token.ts';
import { oauthErrorOf } from './operation/token/oauth-error.ts';
import { cancelPlanning } from './operation/planning/cancel-planning.ts';
import { fetchPlanningResult } from './operation/planning/fetch-planning-result.ts';
import { fetchScanTasks } from './operation/planning/fetch-scan-tasks.ts';
import { planTableScan } from './operation/planning/plan-table-scan.ts';
import { commitAcrossCatalogs, commitTransaction } from './operation/transaction/commit-transaction.ts';
import { loadCredentials } from './operation/credentials/load-credentials.ts';
import { loadCredentialsOfMany } from './operation/credentials/load-credentials-of-many.ts';
import { signRequestOperation, signRequestByLocation } from './operation/credentials/sign-request.ts';
import { createViewOperation, createViewAgain } from './operation/view/create-view.ts';
import { dropView } from './operation/view/drop-view.ts';
import { listViewsOperation } from './operation/view/list-views.ts';
import { loadView } from './operation/view/load-view.ts';
import { registerView, registerViewAgain } from './operation/view/register-view.ts';
import { renameView } from './operation/view/rename-view.ts';
import { replaceViewOperation } from './operation/view/replace-view.ts';
import { viewExists } from './operation/view/view-exists.ts';

const NAMESPACES = '/v1/{prefix}/namespaces';
const NAMESPACE = `${NAMESPACES}/{namespace}`;
const TABLES = `${NAMESPACE}/tables`;
const TABLE = `${TABLES}/{table}`;
const VIEWS = `${NAMESPACE}/views`;
const VIEW = `${VIEWS}/{view}`;
const FUNCTIONS = `${NAMESPACE}/functions`;
const FUNCTION = `${FUNCTIONS}/{function}`;
const STAGES = `${NAMESPACE}/stages`;

const iceberg = { advertised: true } as const;
const open = { advertised: true, action: null } as const;
const other = { advertised: false, action: null } as const;

/** All operations of the service, with path and the action that it is: `catalog/authorization` says who may do it. */
export const OPERATIONS: readonly Operation[] = [
  { ...open, id: 'getConfig', endpoint: 'GET /v1/config', handle: getConfig },
  {
    ...open,
    id: 'getToken',
    endpoint: 'POST /v1/oauth/tokens',
    handle: getToken,
    bodyBytesMax: TOKEN_BODY_BYTES_MAX,
    printError: oauthErrorOf,
  },

  {
    ...iceberg,
    id: 'listNamespaces',
    endpoint: `GET ${NAMESPACES}`,
    action: 'schema.list',
    handle: listNamespacesOperation,
  },
  {
    ...iceberg,
    id: 'createNamespace',
    endpoint: `POST ${NAMESPACES}`,
    action: 'schema.create',
    handle: createNamespace,
    replay: createNamespaceAgain,
  },
  {
    ...iceberg,
    id: 'loadNamespaceMetadata',
    endpoint: `GET ${NAMESPACE}`,
    action: 'schema.describe',
    handle: loadNamespace,
  },
  {
    ...iceberg,
    id: 'namespaceExists',
    endpoint: `HEAD ${NAMESPACE}`,
    action: 'schema.describe',
    handle: namespaceExists,
  },
  {
    ...iceberg,
    id: 'dropNamespace',
    endpoint: `DELETE ${NAMESPACE}`,
    action: 'schema.drop',
    handle: dropNamespace,
    replay: noContent,
  },
  {
    ...iceberg,
    id: 'updateProperties',
    endpoint: `POST ${NAMESPACE}/properties`,
    action: 'schema.alter',
    handle: updateProperties,
    replay: updatePropertiesAgain,
  },
  {
    ...iceberg,
    id: 'renameNamespace',
    endpoint: `POST ${NAMESPACE}/rename`,
    action: 'schema.rename',
    handle: renameNamespace,
    replay: noContent,
  },

  { ...iceberg, id: 'listTables', endpoint: `GET ${TABLES}`, action: 'table.list', handle: listTablesOperation },
  {
    ...iceberg,
    id: 'createTable',
    endpoint: `POST ${TABLES}`,
    action: 'table.create',
    takesLarge: true,
    handle: createTable,
    replay: createTableAgain,
  },
  {
    ...iceberg,
    id: 'loadTable',
    endpoint: `GET ${TABLE}`,
    action: 'table.describe',
    handle: loadTable,
    filesGate: ofNamedTable,
  },
  { ...iceberg, id: 'tableExists', endpoint: `HEAD ${TABLE}`, action: 'table.describe', handle: tableExistsOperation },
  {
    ...iceberg,
    id: 'updateTable',
    endpoint: `POST ${TABLE}`,
    action: 'table.commit',
    takesLarge: true,
    handle: updateTable,
    filesGate: ofCommittedTable,
    replay: loadTableAgain,
  },
  {
    ...iceberg,
    id: 'dropTable',
    endpoint: `DELETE ${TABLE}`,
    action: 'table.drop',
    handle: dropTable,
    replay: noContent,
  },

  {
    ...iceberg,
    id: 'registerTable',
    endpoint: `POST ${NAMESPACE}/register`,
    action: 'table.create',
    handle: registerTable,
    filesGate: ofRegistration,
    replay: registerTableAgain,
  },
  {
    ...iceberg,
    id: 'renameTable',
    endpoint: 'POST /v1/{prefix}/tables/rename',
    action: 'table.rename',
    handle: renameTable,
    replay: noContent,
  },

  {
    ...iceberg,
    id: 'loadCredentials',
    endpoint: `GET ${TABLE}/credentials`,
    action: 'table.read_files',
    delegates: 'vend',
    handle: loadCredentials,
    filesGate: ofNamedTable,
  },
  {
    ...iceberg,
    id: 'vendCredentials',
    endpoint: `POST ${TABLE}/credentials`,
    action: 'table.read_files',
    delegates: 'vend',
    handle: loadCredentials,
    filesGate: ofNamedTable,
  },
  {
    ...iceberg,
    id: 'loadCredentialsOfMany',
    endpoint: 'POST /v1/{prefix}/tables/credentials/batch',
    action: 'table.read_files',
    delegates: 'vend',
    handle: loadCredentialsOfMany,
  },
  {
    ...iceberg,
    id: 'signRequest',
    endpoint: `POST ${TABLE}/sign`,
    action: 'table.read_files',
    delegates: 'sign',
    handle: signRequestOperation,
    filesGate: ofNamedTable,
  },
  {
    ...iceberg,
    id: 'signRequestByLocation',
    endpoint: 'POST /v1/aws/s3/sign',
    action: 'table.read_files',
    delegates: 'sign',
    handle: signRequestByLocation,
  },

  {
    ...iceberg,
    id: 'unregisterTable',
    endpoint: `POST ${TABLE}/unregister`,
    action: 'table.drop',
    handle: unregisterTable,
    filesGate: ofNamedTable,
    replay: unregisterTable,
  },
  {
    ...iceberg,
    id: 'undropTable',
    endpoint: `POST ${TABLE}/undrop`,
    action: 'table.create',
    handle: undropTableOperation,
    filesGate: ofDroppedTable,
    replay: undropTableAgain,
  },
  {
    ...iceberg,
    id: 'listDroppedTables',
    endpoint: 'GET /v1/{prefix}/dropped-tables',
    action: 'table.list',
    handle: listDroppedTables,
  },

  { ...iceberg, id: 'listViews', endpoint: `GET ${VIEWS}`, action: 'view.list', handle: listViewsOperation },
  {
    ...iceberg,
    id: 'createView',
    endpoint: `POST ${VIEWS}`,
    action: 'view.create',
    handle: createViewOperation,
    replay: createViewAgain,
  },
  { ...iceberg, id: 'loadView', endpoint: `GET ${VIEW}`, action: 'view.describe', handle: loadView },
  { ...iceberg, id: 'viewExists', endpoint: `HEAD ${VIEW}`, action: 'view.describe', handle: viewExists },
  {
    ...iceberg,
    id: 'replaceView',
    endpoint: `POST ${VIEW}`,
    action: 'view.replace',
    handle: replaceViewOperation,
    replay: loadView,
  },
  { ...iceberg, id: 'dropView', endpoint: `DELETE ${VIEW}`, action: 'view.drop', handle: dropView, replay: noContent },
  {
    ...iceberg,
    id: 'registerView',
    endpoint: `POST ${NAMESPACE}/register-view`,
    action: 'view.create',
    handle: registerView,
    replay: registerViewAgain,
  },
  {
    ...iceberg,
    id: 'renameView',
    endpoint: 'POST /v1/{prefix}/views/rename',
    action: 'view.rename',
    handle: renameView,
    replay: noContent,
  },

  {
    ...iceberg,
    id: 'listFunctions',
    endpoint: `GET ${FUNCTIONS}`,
    action: 'function.list',
    handle: listFunctionsOperation,
  },
  { ...iceberg, id: 'loadFunction', endpoint: `GET ${FUNCTION}`, action: 'function.describe', handle: loadFunction },
  {
    ...iceberg,
    id: 'createFunction',
    endpoint: `POST ${FUNCTIONS}`,
    action: 'function.create',
    handle: createFunction,
    replay: createFunctionAgain,
  },
  {
    ...iceberg,
    id: 'dropFunction',
    endpoint: `DELETE ${FUNCTION}`,
    action: 'function.drop',
    handle: dropFunction,
    replay: noContent,
  },

  { ...iceberg, id: 'listStages', endpoint: `GET ${STAGES}`, action: 'stage.list', handle: listStagesOperation },
  {
    ...iceberg,
    id: 'createStage',
    endpoint: `POST ${STAGES}`,
    action: 'stage.create',
    handle: createStage,
    replay: createStageAgain,
  },
  {
    ...iceberg,
    id: 'dropStage',
    endpoint: `DELETE ${STAGES}/{stage}`,
    action: 'stage.drop',
    handle: dropStageOperation,
    replay: noContent,
  },
  {
    ...iceberg,
    id: 'renameStage',
    endpoint: 'POST /v1/{prefix}/stages/rename',
    action: 'stage.rename',
    handle: renameStage,
    replay: noContent,
  },

  {
    ...iceberg,
    id: 'reportMetrics',
    endpoint: `POST ${TABLE}/metrics`,
    action: 'table.select',
    handle: reportMetrics,
    filesGate: ofNamedTable,
  },
  {
    ...iceberg,
    id: 'listMetrics',
    endpoint: `GET ${TABLE}/metrics`,
    action: 'table.describe',
    handle: listMetrics,
    filesGate: ofNamedTable,
  },

  {
    ...iceberg,
    id: 'planTableScan',
    endpoint: `POST ${TABLE}/plan`,
    action: 'table.select',
    handle: planTableScan,
    filesGate: ofNamedTable,
    replay: planTableScan,
  },
  {
    ...iceberg,
    id: 'fetchPlanningResult',
    endpoint: `GET ${TABLE}/plan/{plan-id}`,
    action: 'table.select',
    handle: fetchPlanningResult,
    filesGate: ofNamedTable,
  },
  {
    ...iceberg,
    id: 'cancelPlanning',
    endpoint: `DELETE ${TABLE}/plan/{plan-id}`,
    action: 'table.select',
    handle: cancelPlanning,
    replay: noContent,
  },
  {
    ...iceberg,
    id: 'fetchScanTasks',
    endpoint: `POST ${TABLE}/tasks`,
    action: 'table.select',
    handle: fetchScanTasks,
    filesGate: ofNamedTable,
    replay: fetchScanTasks,
  },

  {
    ...iceberg,
    id: 'commitTransaction',
    endpoint: 'POST /v1/{prefix}/transactions/commit',
    action: 'table.commit',
    takesLarge: true,
    handle: commitTransaction,
    filesGate: ofTransaction,
    replay: noContent,
  },
  {
    ...iceberg,
    id: 'commitAcrossCatalogs',
    endpoint: 'POST /v1/transactions/commit',
    action: 'table.commit',
    takesLarge: true,
    handle: commitAcrossCatalogs,
    filesGate: ofTransaction,
    replay: noContent,
  },

  {
    ...iceberg,
    id: 'listCatalogs',
    endpoint: 'GET /v1/catalogs',
    action: 'catalog.list',
    handle: listCatalogsOperation,
  },
  {
    ...iceberg,
    id: 'createCatalog',
    endpoint: 'POST /v1/catalogs',
    action: 'catalog.create',
    handle: createCatalog,
    replay: createCatalogAgain,
  },
  {
    ...iceberg,
    id: 'loadCatalog',
    endpoint: 'GET /v1/catalogs/{catalog}',
    action: 'catalog.describe',
    handle: loadCatalog,
  },
  {
    ...iceberg,
    id: 'dropCatalog',
    endpoint: 'DELETE /v1/catalogs/{catalog}',
    action: 'catalog.drop',
    handle: dropCatalog,
    replay: noContent,
  },
  {
    ...iceberg,
    id: 'renameCatalog',
    endpoint: 'POST /v1/catalogs/{catalog}/rename',
    action: 'catalog.rename',
    handle: renameCatalog,
    replay: noContent,
  },

  { ...other, id: 'getHealth', endpoint: 'GET /health', handle: getHealth },
  { ...other, id: 'getReadiness', endpoint: 'GET /health/ready', handle: getReadiness },
  { ...other, id: 'getMetrics', endpoint: 'GET /metrics', handle: getMetrics },
  { ...other, id: 'getJwks', endpoint: 'GET /.well-known/jwks.json', handle: getJwks },
  {
    ...other,
    id: 'getAuthorizationServer',
    endpoint: 'GET /.well-known/oauth-authorization-server',
    handle: getAuthorizationServer,
  },
  {
    ...other,
    id: 'revokeToken',
    endpoint: 'POST /oauth/revoke',
    handle: revokeToken,
    bodyBytesMax: TOKEN_BODY_BYTES_MAX,
    printError: oauthErrorOf,
  },
];

export const ADVERTISED_ENDPOINTS: readonly string[] = OPERATIONS.filter(({ advertised }) => advertised).map(
  ({ endpoint }) => endpoint,
);
