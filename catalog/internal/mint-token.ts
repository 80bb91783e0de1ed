import type { MintTokenReply } from '#proto/generated/skein/catalog/v1/MintTokenReply.ts';
import type { MintTokenRequest } from '#proto/generated/skein/catalog/v1/MintTokenRequest.ts';
import { SkeinError } from '#shared/error.ts';
import { SCOPES } from '#shared/authorization/token-claims.ts';
import { must } from '#shared/must.ts';
import type { CatalogContext } from '../context.ts';
import { requireTenant } from '../store/postgres/catalog-store.ts';
import { recordEvent } from '../store/postgres/audit-store.ts';
import { maySignIn, requirePrincipal, subjectOf } from '../store/postgres/principal-store.ts';
import { findTokenPrincipal } from '../store/postgres/shown-credentials.ts';
import { transact } from '../store/postgres/transact.ts';

/**
 * Issues a token to the operator of the cluster, who proves itself with the cluster's secret, and records that in the audit log.
 * @throws TENANT_NOT_FOUND, PRINCIPAL_NOT_FOUND, FORBIDDEN for a user who is not active or whose roles lack a scope, INVALID_REQUEST for an unknown scope or a lifetime
 * outside of `catalog.token_ttl_max`
 */
export async function mintToken(context: CatalogContext, request: MintTokenRequest): Promise<MintTokenReply> {
  const { config, store } = context;
  const unknown = request.scope.filter((scope) => !Object.hasOwn(SCOPES, scope));
  if (unknown.length > 0) throw new SkeinError('INVALID_REQUEST', `unknown scope: ${unknown.join(' ')}`);
  const ttlMs = Number(request.ttl_ms) || config['catalog.token_ttl'];
  const ttlMaxMs = config['catalog.token_ttl_max'];
  if (ttlMs < 1_000 || ttlMs > ttlMaxMs) {
    throw new SkeinError('INVALID_REQUEST', `the lifetime of a token is 1 s to ${ttlMaxMs / 1_000} s`);
  }
  const tenantId = await requireTenant(store.db, request.tenant);
  const principal = await requirePrincipal(store.db, tenantId, request.user);
  if (!maySignIn(principal.status)) throw new SkeinError('FORBIDDEN', `the user ${request.user} is not active`);
  const holder = must(await findTokenPrincipal(store.db, principal.id), 'it is there');
  const missing = request.scope.filter((scope) => !holder.scopes.includes(scope));
  if (missing.length > 0) {
    throw new SkeinError('FORBIDDEN', `the roles of ${request.user} do not have the scope ${missing.join(' ')}`);
  }
  const scopes = request.scope.length === 0 ? holder.scopes : [...new Set(request.scope)];
  const { token, expiresAtMs } = await context.issuer.issue(
    { ...subjectOf(holder), scopes, authMethod: 'operator' },
    ttlMs,
  );
  await transact(store.db, (tx) =>
    recordEvent(tx, { id: tenantId, name: request.tenant }, new Date(context.clock.nowMs()), {
      type: 'mint_token',
      actor: null,
      target: { id: principal.id, name: principal.username },
      details: { scope: scopes.join(' '), expires_at: new Date(expiresAtMs).toISOString() },
    }),
  );
  return { token, expires_at_ms: String(expiresAtMs) };
}
