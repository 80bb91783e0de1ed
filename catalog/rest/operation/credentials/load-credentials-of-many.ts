import { SkeinError } from '#shared/error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { THROUGH_SQL } from '../../../authorization/decide.ts';
import { isExempt } from '../../../authorization/policies.ts';
import type { CatalogContext } from '../../../context.ts';
import { delegate } from '../../../delegation/delegate.ts';
import { findPlace } from '../../../delegation/find-place.ts';
import { identOfJson } from '../../../metadata/check-name.ts';
import { asObject, get, optionalString, refuse, requiredArray } from '../../../metadata/json-reader.ts';
import type { TableIdent } from '../../../metadata/object-name.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { toCatalogError } from '../../../store/postgres/errors.ts';
import { icebergError } from '../../iceberg-error.ts';
import { ok, type Answer, type RestRequest } from '../../rest-operation.ts';
import { credentialOf } from '../../table-access.ts';

const IDENTIFIERS_MAX = 1_000;
/** Tables of one request that are worked on at once. */
const AT_ONCE = 8;

/**
 * `POST /v1/{prefix}/tables/credentials/batch`: keys for the files of many tables, `{"identifiers": [...], "access": "read" | "read-write"}`
 * (default `read`). Each table has its result, in the order of the request: its credentials, or the error that a request for it alone
 * would get.
 */
export async function loadCredentialsOfMany(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const body = asObject(request.body, 'credentials request');
  const identifiers = requiredArray(body, 'identifiers').map((one) => identOfJson(one, 'table identifier'));
  if (identifiers.length > IDENTIFIERS_MAX) refuse(`Invalid identifiers: more than ${IDENTIFIERS_MAX}`);
  const access = optionalString(body, 'access') ?? 'read';
  if (access !== 'read' && access !== 'read-write') refuse(`Invalid access: ${access.slice(0, 100)}`);
  const catalog = request.params['prefix'] ?? '';
  await requireCatalog(context.store.db, request.claims.tenant, catalog);
  const results: JsonObject[] = [];
  for (let at = 0; at < identifiers.length; at += AT_ONCE) {
    const some = identifiers.slice(at, at + AT_ONCE);
    results.push(...(await Promise.all(some.map((ident) => resultOf(context, request, { ident, access })))));
  }
  return { ...ok({ results }), headers: { 'cache-control': 'no-store' } };
}

/** @throws STORAGE_ERROR, CATALOG_UNAVAILABLE and the like, because they would come to all */
async function resultOf(
  context: CatalogContext,
  request: RestRequest,
  { ident, access }: { readonly ident: TableIdent; readonly access: string },
): Promise<JsonObject> {
  const identifier = { namespace: [...ident.namespace], name: ident.name };
  try {
    return { identifier, 'storage-credentials': await credentials(context, request, { ident, access }) };
  } catch (thrown) {
    const error = toCatalogError(thrown);
    const { status, body } = icebergError(error);
    if (status >= 500) throw thrown;
    return { identifier, error: get(asObject(body, 'error'), 'error') ?? {} };
  }
}

async function credentials(
  context: CatalogContext,
  { claims, params }: RestRequest,
  { ident, access }: { readonly ident: TableIdent; readonly access: string },
): Promise<Json> {
  const wanted = access === 'read' ? 'read' : 'write';
  const asked = { event: 'vend', principal: claims, method: wanted, key: '' } as const;
  const place = await findPlace(context, asked, { catalog: params['prefix'] ?? '', ident });
  const delegation = await delegate(context, { principal: claims, place, wanted }, ['vended-credentials']);
  if (delegation.kind === 'refused') throw new SkeinError('FORBIDDEN', delegation.reason);
  if (delegation.kind === 'unavailable') throw new SkeinError('NOT_SUPPORTED', delegation.reason);
  if (delegation.kind === 'key') return [credentialOf(delegation, place)];
  // Files of this machine need no key, and the table is closed all the same.
  if (place.hasPolicies && !isExempt(claims)) throw new SkeinError('FORBIDDEN', THROUGH_SQL);
  return [];
}
