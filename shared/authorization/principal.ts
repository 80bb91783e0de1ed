import type { Principal as PrincipalMessage } from '#proto/generated/skein/catalog/v1/Principal.ts';
import { SkeinError } from '#shared/error.ts';
import { principalId, tenantId } from '#shared/id.ts';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';

/** Claims of a token that the catalog reads of the principal of a call, in one list: whatever copies a principal goes by it. */
const FACTS = [
  'sub',
  'tenant',
  'preferred_username',
  'roles',
  'scope',
  'sess_epoch',
  'auth_method',
  'must_change_password',
  'auth_time',
  'sid',
  'amr',
  'privileges',
] as const satisfies readonly (keyof TokenClaims)[];

/** The principal of a call: those claims of its token that the catalog reads. */
export type Principal = Pick<TokenClaims, (typeof FACTS)[number]>;

/** The principal of a caller without the rest of its token, for what outlives the statement, is sealed, or is sent on. */
export const principalOf = (caller: Principal): Principal =>
  Object.fromEntries(FACTS.flatMap((fact) => (caller[fact] === undefined ? [] : [[fact, caller[fact]]]))) as Principal;

export const toPrincipalMessage = (principal: Principal): PrincipalMessage => ({
  tenant: principal.tenant,
  id: principal.sub,
  roles: principal.roles,
  scope: principal.scope,
  session_epoch: String(principal.sess_epoch),
  auth_method: principal.auth_method,
  username: principal.preferred_username,
  must_change_password: principal.must_change_password === true,
  auth_time: String(principal.auth_time ?? 0),
  sid: principal.sid ?? '',
  amr: principal.amr ?? [],
  privileges: principal.privileges ?? [],
});

/** @throws UNAUTHENTICATED when a call carries no principal */
export function fromPrincipalMessage(message: PrincipalMessage | null | undefined): Principal {
  if (message === null || message === undefined || message.id === '' || message.tenant === '') {
    throw new SkeinError('UNAUTHENTICATED', 'the call does not say for which principal it is made');
  }
  const authTime = Number(message.auth_time);
  return {
    sub: principalId(message.id),
    tenant: tenantId(message.tenant),
    preferred_username: message.username,
    roles: message.roles,
    scope: message.scope,
    sess_epoch: Number(message.session_epoch),
    auth_method: message.auth_method as Principal['auth_method'],
    ...(message.must_change_password ? { must_change_password: true } : {}),
    ...(authTime > 0 ? { auth_time: authTime } : {}),
    ...(message.sid === '' ? {} : { sid: message.sid }),
    ...(message.amr.length === 0 ? {} : { amr: message.amr }),
    ...(message.privileges.length === 0 ? {} : { privileges: message.privileges as Principal['privileges'] & {} }),
  };
}
