import type { PrincipalAnswer, PrincipalRequest } from '#shared/principal/principal-request.ts';
import { unreachable } from '#shared/must.ts';
import { addKeypair, createAccount, dropAccount, dropKeypair } from './accounts.ts';
import { alterUser, renameUser, setLegalHold, setUserState, unlockUser } from './alter-user.ts';
import { showAuditLog } from './audit-log.ts';
import type { Call } from './change.ts';
import { createUser } from './create-user.ts';
import { dropUser, expungeUser, undropUser } from './drop-user.ts';
import { grantOrRevokePrivilege, grantOrRevokeRole, showGrants } from './grants.ts';
import { redeemInvitation, setOwnPassword } from './own-password.ts';
import { alterRole, createRole, dropRole, showRoles } from './roles.ts';
import { describeUser, showAccounts, showUsers } from './show-users.ts';
import { createToken, dropToken, showTokens } from './tokens.ts';

/** Runs a statement about principals. @throws the errors of the statement; then nothing was changed, and nothing was written to the audit log */
export function runStatement(call: Call, request: PrincipalRequest): Promise<PrincipalAnswer> {
  switch (request.kind) {
    case 'create_user':
      return createUser(call, request);
    case 'alter_user':
      return alterUser(call, request);
    case 'rename_user':
      return renameUser(call, request);
    case 'set_user_state':
      return setUserState(call, request);
    case 'unlock_user':
      return unlockUser(call, request);
    case 'set_legal_hold':
      return setLegalHold(call, request);
    case 'set_own_password':
      return setOwnPassword(call, request);
    case 'drop_user':
      return dropUser(call, request);
    case 'undrop_user':
      return undropUser(call, request);
    case 'expunge_user':
      return expungeUser(call, request);
    case 'redeem_invitation':
      return redeemInvitation(call, request);
    case 'show_users':
      return showUsers(call, request);
    case 'describe_user':
      return describeUser(call, request);
    case 'create_account':
      return createAccount(call, request);
    case 'drop_account':
      return dropAccount(call, request);
    case 'add_keypair':
      return addKeypair(call, request);
    case 'drop_keypair':
      return dropKeypair(call, request);
    case 'show_accounts':
      return showAccounts(call, request);
    case 'create_token':
      return createToken(call, request);
    case 'drop_token':
      return dropToken(call, request);
    case 'show_tokens':
      return showTokens(call, request);
    case 'create_role':
      return createRole(call, request);
    case 'alter_role':
      return alterRole(call, request);
    case 'drop_role':
      return dropRole(call, request);
    case 'grant_role':
      return grantOrRevokeRole(call, request);
    case 'grant_privilege':
      return grantOrRevokePrivilege(call, request);
    case 'show_roles':
      return showRoles(call);
    case 'show_grants':
      return showGrants(call, request);
    case 'show_audit_log':
      return showAuditLog(call, request);
    default:
      return unreachable(request);
  }
}
