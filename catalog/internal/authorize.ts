import type { AuthorizeReplyInput } from '#proto/generated/skein/catalog/v1/AuthorizeReply.ts';
import { ALL_ACTIONS } from '#shared/authorization/action.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { decide } from '../authorization/decide.ts';
import { THE_TENANT } from '../authorization/securable.ts';
import type { CatalogContext } from '../context.ts';

/** Answers what the principal may do anywhere in its tenant, action by action. */
export const authorize = (
  _context: CatalogContext,
  _request: unknown,
  principal: Principal,
): Promise<AuthorizeReplyInput> =>
  Promise.resolve({
    decisions: ALL_ACTIONS.map((action) => {
      const decision = decide(principal, action, THE_TENANT);
      return { action, allowed: decision.allowed, reason: decision.allowed ? '' : decision.reason };
    }),
  });
