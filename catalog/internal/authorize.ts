import type { AuthorizeReplyInput } from '#proto/generated/skein/catalog/v1/AuthorizeReply.ts';
import { ALL_ACTIONS } from '#shared/authorization/action.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { decide } from '../authorization/decide.ts';
import { THE_TENANT } from '../authorization/securable.ts';
import type { CatalogContext } from '../context.ts';
import { findById } from '../store/postgres/principal-record-store.ts';

/** Answers what the principal may do anywhere in its tenant, action by action, and how its sessions start. */
export async function authorize(
  { store }: CatalogContext,
  _request: unknown,
  principal: Principal,
): Promise<AuthorizeReplyInput> {
  const record = await findById(store.db, principal.sub);
  return {
    decisions: ALL_ACTIONS.map((action) => {
      const decision = decide(principal, action, THE_TENANT);
      return { action, allowed: decision.allowed, reason: decision.allowed ? '' : decision.reason };
    }),
    default_role: record?.defaultRole ?? '',
    default_warehouse: record?.defaultWarehouse ?? '',
    must_change_password: record?.mustChangePassword ?? false,
  };
}
