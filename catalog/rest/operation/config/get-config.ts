import { SkeinError } from '#shared/error.ts';
import type { TokenClaims } from '#shared/token-claims.ts';
import type { CatalogContext } from '../../../context.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { isoDuration } from '../../idempotency/idempotency-key.ts';
import { ok, type Answer, type OpenRequest } from '../../operation.ts';

/**
 * `GET /v1/config?warehouse=<name>`: the prefix of a catalog's paths, and every endpoint that is served. Without `warehouse` it is the
 * catalog that the first start made.
 *
 * It needs no token, and tells nobody without one which names are in use: any name is answered alike, and nothing is looked up. That
 * there is no such catalog shows at the first call with a token, here too: 404, for another tenant's word for word as for an absent one.
 * The prefix stands in both maps: the service specification has it in `defaults`, some clients read only `overrides`.
 */
export async function getConfig(context: CatalogContext, request: OpenRequest): Promise<Answer> {
  const name = request.query['warehouse'] ?? context.config['bootstrap.catalog'];
  const claims = await optionalClaims(context, request);
  if (claims !== undefined) await requireCatalog(context.store.db, claims.tenant, name);
  return ok({
    defaults: { prefix: name },
    overrides: { prefix: name },
    endpoints: context.endpoints,
    'idempotency-key-lifetime': isoDuration(context.config['catalog.idempotency_lifetime']),
  });
}

/** Of a token that is good; one that is not counts as none, because none is needed. */
async function optionalClaims(context: CatalogContext, request: OpenRequest): Promise<TokenClaims | undefined> {
  try {
    return await context.verifier.verify(request.headers.authorization);
  } catch (error) {
    if (error instanceof SkeinError && error.code === 'UNAUTHENTICATED') return undefined;
    throw error;
  }
}
