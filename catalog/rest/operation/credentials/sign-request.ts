import { setImmediate as nextTurn } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import { s3Location } from '#shared/storage/s3/s3-object.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { CatalogContext } from '../../../context.ts';
import { findPlace } from '../../../delegation/find-place.ts';
import { deletedKeys } from '../../../delegation/sign/deleted-keys.ts';
import { presignForTable, signForTable, type NamedRequest } from '../../../delegation/sign/sign-for-table.ts';
import { isOfStore, readStoreUri } from '../../../delegation/sign/store-uri.ts';
import {
  asArray,
  asObject,
  get,
  optionalString,
  refuse,
  requiredArray,
  requiredString,
} from '../../../metadata/json-reader.ts';
import { signsForClients } from '../../../metadata/storage-settings.ts';
import { findTableAt } from '../../../store/postgres/folder-claims.ts';
import { requireFilePlace, type FilePlace } from '../../../store/postgres/file-place-store.ts';
import { listProfiles } from '../../../store/postgres/profile-store.ts';
import { ok, type Answer, type RestRequest } from '../../rest-operation.ts';
import { tableTarget } from '../../request-names.ts';

/** Requests of one call that are presigned. */
const REQUESTS_MAX = 1_000;
/** Those of them that are signed before others have a turn. */
const SIGNED_AT_ONCE = 50;
const HEADERS_MAX = 100;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$/;

/**
 * `POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/sign`: signs a request to the store, `{"method", "uri", "headers", "body"}`, which is
 * answered by the headers to add; or presigns many, `{"requests": [{"method", "uri", "headers"}]}`.
 */
export async function signRequestOperation(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const body = asObject(request.body, 'sign request');
  const { catalog, ident } = tableTarget(request);
  const requests = get(body, 'requests') === undefined ? undefined : requiredArray(body, 'requests');
  const named = requests === undefined ? readRequest(body) : undefined;
  const { method = 'POST', uri: key = '' } = named ?? {};
  const place = await findPlace(context, { event: 'sign', principal: request.claims, method, key }, { catalog, ident });
  if (named !== undefined) return signed(context, request, place, named);
  return presigned(context, request, place, requests ?? []);
}

/**
 * `POST /v1/aws/s3/sign`, for clients of before there was a path for each table: the table is the one that has the object.
 * @throws TABLE_NOT_FOUND
 */
export async function signRequestByLocation(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const named = readRequest(asObject(request.body, 'sign request'));
  const { tenant } = request.claims;
  const { db } = context.store;
  for (const profile of await listProfiles(db)) {
    const { settings } = profile;
    if (profile.tenant !== tenant || !signsForClients(settings) || !isOfStore(named.uri, settings)) continue;
    const found = await findTableAt(db, request.claims.tenant, locationOf(named, settings));
    if (found === undefined) continue;
    const place = await requireFilePlace(db, request.claims.tenant, found.catalog, found.ident);
    return signed(context, request, place, named);
  }
  context.delegationLog.refused(
    { event: 'sign', principal: request.claims, table: null, method: named.method, key: named.uri },
    'no table lies there',
  );
  throw new SkeinError('TABLE_NOT_FOUND', 'Table does not exist: none lies at the URI of the request');
}

/** The location by which the table of a request is looked for: that of the object, of the list, or of the first object to delete. */
function locationOf({ uri, body }: NamedRequest, settings: Parameters<typeof readStoreUri>[1]): string {
  const { bucket, key, query } = readStoreUri(uri, settings);
  if (key !== '') return s3Location({ bucket, key });
  const [first = ''] = body === undefined ? [query.get('prefix') ?? ''] : deletedKeys(body);
  return s3Location({ bucket, key: first });
}

async function signed(
  context: CatalogContext,
  { claims }: RestRequest,
  place: FilePlace,
  named: NamedRequest,
): Promise<Answer> {
  const { permission, headers } = await signForTable(context, { principal: claims, place }, named);
  return {
    ...ok({
      uri: named.uri,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    }),
    headers: { 'cache-control': permission === 'read' ? 'private' : 'no-cache' },
  };
}

async function presigned(
  context: CatalogContext,
  { claims }: RestRequest,
  place: FilePlace,
  requests: readonly Json[],
): Promise<Answer> {
  if (requests.length > REQUESTS_MAX) refuse(`Invalid requests: more than ${REQUESTS_MAX}`);
  const named = requests.map((one) => readRequest(asObject(one, 'request')));
  const results: JsonObject[] = [];
  for (const one of named) {
    const { uri, headers, expiresAtMs } = await presignForTable(context, { principal: claims, place }, one);
    results.push({ uri, headers, 'expires-at-ms': expiresAtMs });
    if (results.length % SIGNED_AT_ONCE === 0) await nextTurn();
  }
  return { ...ok({ presigned: results }), headers: { 'cache-control': 'no-cache' } };
}

/** @throws INVALID_REQUEST */
function readRequest(body: JsonObject): NamedRequest {
  const provider = optionalString(body, 'provider') ?? 's3';
  if (provider.toLowerCase() !== 's3') refuse(`Invalid provider: ${provider.slice(0, 100)}`);
  return {
    method: requiredString(body, 'method').toUpperCase(),
    uri: requiredString(body, 'uri'),
    headers: readHeaders(get(body, 'headers')),
    body: optionalString(body, 'body'),
  };
}

/** Each header is a text, or a list of texts. @throws INVALID_REQUEST */
function readHeaders(json: Json | undefined): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  const entries = Object.entries(json === undefined ? {} : asObject(json, 'headers'));
  if (entries.length > HEADERS_MAX) refuse(`Invalid headers: more than ${HEADERS_MAX}`);
  for (const [given, value] of entries) {
    const name = given.toLowerCase();
    if (!HEADER_NAME.test(given) || headers.has(name)) refuse(`Invalid header: ${given.slice(0, 100)}`);
    const values = typeof value === 'string' ? [value] : asArray(value, `headers.${given.slice(0, 100)}`);
    const text = values
      .map((one) =>
        typeof one === 'string' ? one.trim() : refuse(`Cannot parse to a string value: headers.${given.slice(0, 100)}`),
      )
      .join(',');
    if (/[\0\r\n]/.test(text) || text.length > 8_192) refuse(`Invalid header: ${given.slice(0, 100)}`);
    headers.set(name, text);
  }
  return headers;
}
