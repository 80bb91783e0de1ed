import { SkeinError } from '#shared/error.ts';
import type { JsonObject } from '#shared/json.ts';
import { fileLocation } from '#shared/storage/location.ts';
import { catalogLocation } from '../../../bootstrap.ts';
import { asObject, get, optionalString, requiredString } from '../../../metadata/json-reader.ts';
import type { CatalogContext } from '../../../context.ts';
import { makeRoots } from '../../../storage/make-roots.ts';
import { requireBelowRoot } from '../../../storage/table-location.ts';
import { insertCatalog, requireCatalog, requireTenant } from '../../../store/postgres/catalog-store.ts';
import { ok, type Answer, type RestRequest } from '../../operation.ts';
import { catalogJson } from './catalog-answer.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/**
 * `POST /v1/catalogs`: creates a catalog of the caller's tenant. `storage-profile` may name a `location` within `catalog.client_roots` that
 * never belonged to another tenant; only the operator sets further roots and the UNDROP window (`skein admin catalog`). 409 when any tenant
 * has a catalog of that name: it is the prefix of paths.
 */
export async function createCatalog(context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const body = asObject(request.body, 'create catalog request');
  const name = requiredString(body, 'name');
  const profile = get(body, 'storage-profile');
  const location = chosenLocation(context, profile === undefined ? {} : asObject(profile, 'storage-profile'));
  const catalog = await unit.transact(async (tx) => {
    const tenantId = await requireTenant(tx, request.claims.tenant);
    const place = location ?? catalogLocation(context.config, name);
    await insertCatalog(tx, { tenantId, name, location: place, chosenBy: 'client' });
    return requireCatalog(tx, request.claims.tenant, name);
  });
  await makeRoots(context, catalog.roots);
  return ok(catalogJson(catalog));
}

export const createCatalogAgain = async (context: CatalogContext, { claims, body }: RestRequest): Promise<Answer> => {
  const name = requiredString(asObject(body, 'create catalog request'), 'name');
  return ok(catalogJson(await requireCatalog(context.store.db, claims.tenant, name)));
};

/**
 * Returns the location that the client asks for. @throws INVALID_REQUEST on a location outside of `catalog.client_roots`, and on members
 * that are not supported
 */
function chosenLocation({ config }: CatalogContext, profile: JsonObject): string | undefined {
  const unknown = Object.keys(profile).filter((key) => key !== 'location' && key !== 'type');
  if (unknown.length > 0) throw new SkeinError('INVALID_REQUEST', `Invalid storage-profile: ${unknown.join(', ')}`);
  const type = optionalString(profile, 'type') ?? 'file';
  if (type !== 'file')
    throw new SkeinError('INVALID_REQUEST', `storage-profile of type ${type} is not served: file is`);
  const location = optionalString(profile, 'location');
  if (location === undefined) return undefined;
  const roots = config['catalog.client_roots'].map(fileLocation);
  if (roots.length === 0) {
    throw new SkeinError('INVALID_REQUEST', 'the operator lets no client choose the location of a catalog');
  }
  return requireBelowRoot(location, roots);
}
