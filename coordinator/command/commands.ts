import type { Command } from './command.ts';
import { deleteFrom } from './delete-from.ts';
import { deallocate } from './deallocate.ts';
import { describe } from './describe.ts';
import { discard } from './discard.ts';
import { execute } from './execute.ts';
import { close } from './cursor/close.ts';
import { declare } from './cursor/declare.ts';
import { fetch } from './cursor/fetch.ts';
import { move } from './cursor/move.ts';
import { explain } from './explain.ts';
import { insert } from './insert.ts';
import { killQuery } from './kill-query.ts';
import { listen } from './listen.ts';
import { merge } from './merge.ts';
import { prepare } from './prepare.ts';
import { query } from './query.ts';
import { reset } from './reset.ts';
import { set } from './set.ts';
import { showAllTables } from './show-all-tables.ts';
import { showAll } from './show-all.ts';
import { showCatalogs } from './show-catalogs.ts';
import { showQueries } from './show-queries.ts';
import { showQueryHistory } from './show-query-history.ts';
import { showColumns } from './show-columns.ts';
import { showResourceGroups } from './show-resource-groups.ts';
import { showSchemas } from './show-schemas.ts';
import { showTables } from './show-tables.ts';
import { show } from './show.ts';
import { alterTable } from './alter-table/alter-table.ts';
import { alterCatalog } from './catalog/alter-catalog.ts';
import { createCatalog } from './catalog/create-catalog.ts';
import { dropCatalog } from './catalog/drop-catalog.ts';
import { commentOn } from './comment-on.ts';
import { analyze } from './maintenance/analyze.ts';
import { optimizeTable } from './maintenance/optimize-table.ts';
import { copyInto } from './copy/copy-into.ts';
import { alterSchema } from './schema/alter-schema.ts';
import { createSchema } from './schema/create-schema.ts';
import { dropSchema } from './schema/drop-schema.ts';
import { createTable } from './table/create-table.ts';
import { dropTable } from './table/drop-table.ts';
import { showCreateTable } from './table/show-create-table.ts';
import { truncateTable } from './table/truncate-table.ts';
import { undropTable } from './table/undrop-table.ts';
import { createMaterializedView } from './materialized-view/create-materialized-view.ts';
import { dropMaterializedView } from './materialized-view/drop-materialized-view.ts';
import { explainRefresh } from './materialized-view/explain-refresh.ts';
import { refreshMaterializedView } from './materialized-view/refresh-materialized-view.ts';
import { showCreateMaterializedView } from './materialized-view/show-create-materialized-view.ts';
import { alterRole } from './principal/alter-role.ts';
import { alterSelf } from './principal/alter-self.ts';
import { alterServiceAccount } from './principal/alter-service-account.ts';
import { alterUser } from './principal/alter-user.ts';
import { alterProvider } from './principal/alter-provider.ts';
import { createProvider } from './principal/create-provider.ts';
import { describeProvider } from './principal/describe-provider.ts';
import { dropProvider } from './principal/drop-provider.ts';
import { showProviders } from './principal/show-providers.ts';
import { alterWebhook } from './principal/alter-webhook.ts';
import { createRole } from './principal/create-role.ts';
import { createServiceAccount } from './principal/create-service-account.ts';
import { createToken } from './principal/create-token.ts';
import { createUser } from './principal/create-user.ts';
import { createWebhook } from './principal/create-webhook.ts';
import { describeUser } from './principal/describe-user.ts';
import { dropRole } from './principal/drop-role.ts';
import { dropServiceAccount } from './principal/drop-service-account.ts';
import { dropToken } from './principal/drop-token.ts';
import { dropUser } from './principal/drop-user.ts';
import { dropWebhook } from './principal/drop-webhook.ts';
import { expungeUser } from './principal/expunge-user.ts';
import { grant } from './principal/grant.ts';
import { redeemInvitation } from './principal/redeem-invitation.ts';
import { showAuditLog } from './principal/show-audit-log.ts';
import { showGrants } from './principal/show-grants.ts';
import { showRoles } from './principal/show-roles.ts';
import { showServiceAccounts } from './principal/show-service-accounts.ts';
import { showTokens } from './principal/show-tokens.ts';
import { showUsers } from './principal/show-users.ts';
import { showWebhookDeliveries } from './principal/show-webhook-deliveries.ts';
import { showWebhooks } from './principal/show-webhooks.ts';
import { undropUser } from './principal/undrop-user.ts';
import { createPolicy } from './policy/create-policy.ts';
import { dropPolicy } from './policy/drop-policy.ts';
import { setPolicyBody } from './policy/set-policy-body.ts';
import { describePolicy, showPolicies } from './policy/show-policies.ts';
import { alterStage } from './stage/alter-stage.ts';
import { createStage } from './stage/create-stage.ts';
import { dropStage } from './stage/drop-stage.ts';
import { listStage } from './stage/list-stage.ts';
import { removeFiles } from './stage/remove-files.ts';
import { showStages } from './stage/show-stages.ts';
import { alterView } from './view/alter-view.ts';
import { createView } from './view/create-view.ts';
import { dropView } from './view/drop-view.ts';
import { showCreateView } from './view/show-create-view.ts';
import { summarize } from './summarize.ts';
import { savepoint } from './savepoint.ts';
import { transactionControl } from './transaction-control.ts';
import { update } from './update.ts';
import { use } from './use.ts';

/** Every statement that is served. */
export const COMMANDS = {
  query,
  explain,
  describe,
  prepare,
  execute,
  insert,
  deleteFrom,
  update,
  merge,
  deallocate,
  set,
  reset,
  discard,
  listen,
  use,
  show,
  showAll,
  showAllTables,
  showCatalogs,
  showColumns,
  showQueries,
  showQueryHistory,
  showResourceGroups,
  showSchemas,
  showTables,
  killQuery,
  summarize,
  transactionControl,
  savepoint,
  declare,
  fetch,
  move,
  close,
  commentOn,
  createCatalog,
  alterCatalog,
  dropCatalog,
  createSchema,
  alterSchema,
  dropSchema,
  createTable,
  dropTable,
  undropTable,
  truncateTable,
  showCreateTable,
  createView,
  dropView,
  alterView,
  showCreateView,
  createMaterializedView,
  refreshMaterializedView,
  explainRefresh,
  dropMaterializedView,
  showCreateMaterializedView,
  copyInto,
  createStage,
  alterStage,
  dropStage,
  showStages,
  listStage,
  removeFiles,
  alterTable,
  analyze,
  optimizeTable,
  alterRole,
  alterSelf,
  alterServiceAccount,
  alterUser,
  alterProvider,
  createProvider,
  describeProvider,
  dropProvider,
  showProviders,
  alterWebhook,
  createPolicy,
  dropPolicy,
  setPolicyBody,
  showPolicies,
  describePolicy,
  createRole,
  createServiceAccount,
  createToken,
  createUser,
  createWebhook,
  describeUser,
  dropRole,
  dropServiceAccount,
  dropToken,
  dropUser,
  dropWebhook,
  expungeUser,
  grant,
  redeemInvitation,
  showAuditLog,
  showGrants,
  showRoles,
  showServiceAccounts,
  showTokens,
  showUsers,
  showWebhookDeliveries,
  showWebhooks,
  undropUser,
} as const satisfies Readonly<Record<string, Command>>;

type Commands = typeof COMMANDS;
export type CommandName = keyof Commands;

/** A statement as its command has read it; plain data. */
export type Statement = {
  readonly [K in CommandName]: { readonly command: K; readonly input: ReturnType<Commands[K]['parse']> };
}[CommandName];
