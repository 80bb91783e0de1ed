import type { WhoamiEntry as Whoami } from '#coordinator/api/http/api-types.ts';

const TENANT_ADMIN = 'tenant_admin';

/**
 * Why the reader may not do something to principals; undefined: the server is asked, which alone decides.
 * @param privilege that allows it beside `tenant_admin`; null: none does
 */
export function principalRefusal(
  { roles, scopes, privileges }: Pick<Whoami, 'roles' | 'scopes' | 'privileges'>,
  privilege: string | null,
  scope: 'principal:read' | 'principal:write' = 'principal:write',
): string | undefined {
  if (!roles.includes(TENANT_ADMIN) && (privilege === null || !privileges.includes(privilege))) {
    return privilege === null
      ? 'This is for a tenant_admin.'
      : `This needs tenant_admin or the privilege ${privilege}.`;
  }
  return scopes.includes(scope) ? undefined : `Your token lacks the scope ${scope}.`;
}
