import type { PrincipalAnswer, PrincipalRequest, RequestOf } from '#shared/principal/principal-request.ts';
import { addKeypair, createAccount, dropAccount, dropKeypair } from './accounts.ts';
import { alterUser, renameUser, setLegalHold, setUserState, unlockUser } from './alter-user.ts';
import { searchAuditLog, showAuditLog } from './audit-log.ts';
import type { Call } from './change.ts';
import { createUser } from './create-user.ts';
import { dropUser, expungeUser, undropUser } from './drop-user.ts';
import { grantOrRevokePrivilege, grantOrRevokeRole, showGrants } from './grants.ts';
import { grantOrRevokeGroupRole, showGroupGrants } from './group-grants.ts';
import { disableMfa, enrollMfa, resetMfa, verifyMfa } from './own-factor.ts';
import { redeemInvitation, setOwnPassword } from './own-password.ts';
import { alterProvider, createProvider, describeProvider, dropProvider, showProviders } from './providers.ts';
import { alterRole, createRole, dropRole, showRoles } from './roles.ts';
import { describeUser, showAccounts, showUsers } from './show-users.ts';
import { createToken, dropToken, showTokens } from './tokens.ts';
import { dropTrust, setTrust } from './trusts.ts';
import { createWebhook, dropWebhook, retryWebhook, showDeliveries, showWebhooks } from './webhooks.ts';

const RUNS = {
  create_user: createUser,
  alter_user: alterUser,
  rename_user: renameUser,
  set_user_state: setUserState,
  unlock_user: unlockUser,
  set_legal_hold: setLegalHold,
  set_own_password: setOwnPassword,
  enroll_mfa: enrollMfa,
  verify_mfa: verifyMfa,
  disable_mfa: disableMfa,
  reset_mfa: resetMfa,
  drop_user: dropUser,
  undrop_user: undropUser,
  expunge_user: expungeUser,
  redeem_invitation: redeemInvitation,
  show_users: showUsers,
  describe_user: describeUser,
  create_account: createAccount,
  drop_account: dropAccount,
  add_keypair: addKeypair,
  drop_keypair: dropKeypair,
  show_accounts: showAccounts,
  create_token: createToken,
  drop_token: (call, request) => dropToken(call, request),
  show_tokens: showTokens,
  create_role: createRole,
  alter_role: alterRole,
  drop_role: dropRole,
  grant_role: grantOrRevokeRole,
  grant_privilege: grantOrRevokePrivilege,
  grant_group_role: grantOrRevokeGroupRole,
  show_group_grants: showGroupGrants,
  show_roles: showRoles,
  show_grants: showGrants,
  create_webhook: createWebhook,
  drop_webhook: dropWebhook,
  retry_webhook: retryWebhook,
  show_webhooks: showWebhooks,
  show_webhook_deliveries: showDeliveries,
  create_provider: createProvider,
  alter_provider: alterProvider,
  drop_provider: dropProvider,
  show_providers: showProviders,
  describe_provider: describeProvider,
  set_trust: setTrust,
  drop_trust: dropTrust,
  show_audit_log: showAuditLog,
  search_audit_log: searchAuditLog,
} as const satisfies {
  readonly [K in PrincipalRequest['kind']]: (call: Call, request: RequestOf<K>) => Promise<PrincipalAnswer>;
};

/** Runs a statement about principals. @throws the errors of the statement; then nothing was changed, and nothing was written to the audit log */
export function runStatement(call: Call, request: PrincipalRequest): Promise<PrincipalAnswer> {
  const run: (call: Call, request: never) => Promise<PrincipalAnswer> = RUNS[request.kind];
  return run(call, request as never);
}
