import { SkeinError } from '#shared/error.ts';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import type { CatalogContext } from '../../../context.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { isoDuration } from '../../idempotency-key.ts';
import { capabilitiesOf } from '../../capabilities.ts';
import { ok, type Answer, type OpenRequest } from '../../rest-operation.ts';

/**
 * `GET /v1/config?warehouse=<name>`: the prefix of a catalog's paths, every endpoint that is served, and what the deployment
 * can do (`capabilities`, a member of ours: Iceberg's clients ignore members that they do not know). Without `warehouse` the answer is
 * for the catalog that the first start created.
 *
 * It needs no token, and does not reveal to callers without one which names exist: every name gets the same kind of answer, without a
 * look-up. With a token an unknown catalog is a 404, here as on every call, with the same words for another tenant's catalog. The prefix is
 * in both maps: the service specification has it in `defaults`, some clients read only `overrides`.
 */
export async function getConfig(context: CatalogContext, request: OpenRequest): Promise<Answer> {
  const name = request.query['warehouse'] ?? context.config['bootstrap.catalog'];
  const claims = await optionalClaims(context, request);
  if (claims !== undefined) await requireCatalog(context.store.db, claims.tenant, name);
  return ok({
    defaults: { prefix: name },
    overrides: { prefix: name },
    endpoints: context.endpoints,
    capabilities: capabilitiesOf(context.endpoints),
    'idempotency-key-lifetime': isoDuration(context.config['catalog.idempotency_lifetime']),
  });
}

/** Returns the claims of a valid token. An invalid token counts as none, because the operation needs none. */
async function optionalClaims(context: CatalogContext, request: OpenRequest): Promise<TokenClaims | undefined> {
  try {
    return await context.bearers.verify(request.headers.authorization, request.remoteAddress);
  } catch (error) {
    if (error instanceof SkeinError && error.code === 'UNAUTHENTICATED') return undefined;
    throw error;
  }
}
