import type { Principal } from '#shared/authorization/principal.ts';

/** The principal of a caller without the rest of its token, for what outlives the statement. */
export const principalOf = ({
  sub,
  tenant,
  preferred_username,
  roles,
  scope,
  sess_epoch,
  auth_method,
}: Principal): Principal => ({ sub, tenant, preferred_username, roles, scope, sess_epoch, auth_method });
