import { SkeinError } from '#shared/error.ts';
import type { TokenClaims } from '#shared/token-claims.ts';
import type { CatalogContext } from '../../../context.ts';
import { catalogExists, catalogNotFound, requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { isoDuration } from '../../idempotency/idempotency-key.ts';
import { ok, type Answer, type OpenRequest } from '../../operation.ts';

/**
 * `GET /v1/config?warehouse=<name>`: the prefix of a catalog's paths, and every endpoint that is served. Without `warehouse` it is the
 * catalog that the first start made. Needs no token: it says no more than that a name is in use. Who sends one is told of the catalogs of
 * its tenant alone.
 * The prefix stands in both maps: the service specification has it in `defaults`, some clients read only `overrides`.
 */
export async function getConfig(context: CatalogContext, request: OpenRequest): Promise<Answer> {
  const name = request.query['warehouse'] ?? context.config['bootstrap.catalog'];
  const { db } = context.store;
  const claims = await optionalClaims(context, request);
  if (claims !== undefined) await requireCatalog(db, claims.tenant, name);
  else if (!(await catalogExists(db, name))) return catalogNotFound(name);
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
