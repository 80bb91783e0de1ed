import type { CatalogContext } from '../../../context.ts';
import { catalogExists, catalogNotFound } from '../../../store/postgres/catalog-store.ts';
import { isoDuration } from '../../idempotency/idempotency-key.ts';
import { ok, type Answer, type OpenRequest } from '../../operation.ts';

/**
 * `GET /v1/config?warehouse=<name>`: the prefix of a catalog's paths, and every endpoint that is served. Without `warehouse` it is the
 * catalog that the first start made. Needs no token: it says no more than that a name is in use.
 * The prefix stands in both maps: the service specification has it in `defaults`, some clients read only `overrides`.
 */
export async function getConfig(context: CatalogContext, request: OpenRequest): Promise<Answer> {
  const name = request.query['warehouse'] ?? context.config['bootstrap.catalog'];
  if (!(await catalogExists(context.store.db, name))) return catalogNotFound(name);
  return ok({
    defaults: { prefix: name },
    overrides: { prefix: name },
    endpoints: context.endpoints,
    'idempotency-key-lifetime': isoDuration(context.config['catalog.idempotency_lifetime']),
  });
}
