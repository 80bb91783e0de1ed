import { SkeinError } from '#shared/error.ts';
import type { JsonObject } from '#shared/json.ts';
import { fileLocation } from '#shared/storage/location.ts';
import { catalogLocation } from '../../../bootstrap.ts';
import { asObject, get, optionalString, requiredString } from '../../../metadata/json-reader.ts';
import type { CatalogContext } from '../../../context.ts';
import { makeRoots } from '../../../storage/make-roots.ts';
import type { NewPlace } from '../../../storage/named-profiles.ts';
import { sealedProfile } from '../../../storage/sealed-profile.ts';
import { requireBelowRoot } from '../../../storage/table-location.ts';
import { insertCatalog, requireCatalog, requireTenant } from '../../../store/postgres/catalog-store.ts';
import { insertProfile } from '../../../store/postgres/profile-store.ts';
import { ok, type Answer, type RestRequest } from '../../rest-operation.ts';
import { catalogJson } from './catalog-answer.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/**
 * `POST /v1/catalogs`: creates a catalog of the caller's tenant. `storage-profile` may name a `location` within `catalog.client_roots` that
 * never belonged to another tenant, or the `name` of a profile of `catalog.storage_profiles`, below which the catalog gets a prefix of its
 * own; only the operator sets further roots and the UNDROP window (`skein admin catalog`). 409 when any tenant has a catalog of that name:
 * it is the prefix of paths.
 */
export async function createCatalog(context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const body = asObject(request.body, 'create catalog request');
  const name = requiredString(body, 'name');
  const given = get(body, 'storage-profile');
  const { tenant } = request.claims;
  const place = chosenPlace(context, given === undefined ? {} : asObject(given, 'storage-profile'), {
    tenant,
    catalog: name,
  });
  const catalog = await unit.transact(async (tx) => {
    const tenantId = await requireTenant(tx, tenant);
    const location = place === undefined ? catalogLocation(context.config, name) : locationOf(place);
    const chosenBy = typeof place === 'object' ? 'profile' : 'client';
    const id = await insertCatalog(tx, { tenantId, name, location, chosenBy });
    if (typeof place === 'object') await insertProfile(tx, id, sealedProfile(context.sealing, id, place));
    return requireCatalog(tx, tenant, name);
  });
  await makeRoots(context, catalog.roots);
  return ok(catalogJson(catalog));
}

const locationOf = (place: string | NewPlace): string => (typeof place === 'string' ? place : place.location);

export const createCatalogAgain = async (context: CatalogContext, { claims, body }: RestRequest): Promise<Answer> => {
  const name = requiredString(asObject(body, 'create catalog request'), 'name');
  return ok(catalogJson(await requireCatalog(context.store.db, claims.tenant, name)));
};

const MEMBERS: ReadonlySet<string> = new Set(['type', 'location', 'name']);

/**
 * Returns the place that the client asks for: a location, or one in a bucket by the name of a profile. @throws INVALID_REQUEST on a location
 * outside of `catalog.client_roots`, a profile that there is not for the tenant, and members that are not supported
 */
function chosenPlace(
  { config, profiles }: CatalogContext,
  given: JsonObject,
  whose: { readonly tenant: string; readonly catalog: string },
): string | NewPlace | undefined {
  const unknown = Object.keys(given).filter((key) => !MEMBERS.has(key));
  if (unknown.length > 0) throw invalid(`Invalid storage-profile: ${unknown.join(', ')}`);
  const [name, location] = [optionalString(given, 'name'), optionalString(given, 'location')];
  const type = optionalString(given, 'type');
  if (name !== undefined) {
    if (location !== undefined) throw invalid('a storage-profile has a name or a location');
    const place = profiles.placeFor(name, whose);
    requireType(type, [place.settings.kind, place.location.slice(0, place.location.indexOf(':'))]);
    return place;
  }
  requireType(type, ['file']);
  if (location === undefined) return undefined;
  const roots = config['catalog.client_roots'].map(fileLocation);
  if (roots.length === 0) throw invalid('the operator lets no client choose the location of a catalog');
  return requireBelowRoot(location, roots);
}

/** @param served names of the place's kind: the store's, and what answers say of catalogs there. @throws INVALID_REQUEST for another one */
function requireType(type: string | undefined, served: readonly string[]): void {
  if (type === undefined || served.includes(type)) return;
  throw invalid(`storage-profile of type ${type} is not served: ${served[0]} is`);
}

const invalid = (message: string): SkeinError => new SkeinError('INVALID_REQUEST', message);
