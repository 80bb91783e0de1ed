import type { JsonObject } from '#shared/json.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { unreachable } from '#shared/must.ts';
import type { CatalogContext } from '../context.ts';
import { delegate, waysOf, type Delegation } from '../delegation/delegate.ts';
import { storeKeyProperties, storeProperties } from '../delegation/store-properties.ts';
import type { Place } from '../delegation/table-files.ts';
import { joinPath, type TableIdent } from '../metadata/object-name.ts';
import type { Properties } from '../metadata/table-document.ts';
import { requireFilePlace, type FilePlace } from '../store/postgres/file-place-store.ts';
import type { RestRequest } from './rest-operation.ts';

/** The part of a table's answer that lets its client at the files. */
export type TableAccess = {
  /** Members of a `LoadTableResult`, `config` among them. */
  readonly members: JsonObject;
  /** Everything that the answer depends on beside the table: it makes another entity tag. Undefined = nothing, so that 304 may answer. */
  readonly variant: string | undefined;
  /** There are secrets in it. */
  readonly isSecret: boolean;
};

/** The answer to a client that asks for no access. */
export const NO_ACCESS: TableAccess = { members: { config: {} }, variant: undefined, isSecret: false };

/**
 * Begins to look for the files of a table, so that a load waits for the table and for them at once. Undefined when the request asks for no
 * access to them.
 */
export function findFiles(
  { store: { db } }: CatalogContext,
  request: RestRequest,
  ident: TableIdent,
): Promise<FilePlace> | undefined {
  if (waysOfRequest(request).length === 0) return undefined;
  const found = requireFilePlace(db, request.claims.tenant, request.params['prefix'] ?? '', ident);
  // Where the table is not found either, its error counts.
  found.catch(() => undefined);
  return found;
}

/**
 * The access to a table that is there, as the request's header asks for it. @param early where the files of a table of this name lie, if that
 * was looked for before the table
 * @throws TABLE_NOT_FOUND, STORAGE_ERROR
 */
export async function accessToTable(
  context: CatalogContext,
  request: RestRequest,
  ident: TableIdent,
  early?: { readonly tableId: string; readonly files: Promise<FilePlace> | undefined },
): Promise<TableAccess> {
  if (waysOfRequest(request).length === 0) return NO_ACCESS;
  const found = await early?.files?.catch(() => undefined);
  // Another table may have got the name in between.
  const isSame = found !== undefined && found.tableId === early?.tableId;
  const place = isSame ? found : await findFiles(context, request, ident);
  return place === undefined ? NO_ACCESS : accessToPlace(context, request, place);
}

/** The access to the files of a table, which may not be there yet. @throws STORAGE_ERROR */
export async function accessToPlace(context: CatalogContext, request: RestRequest, place: Place): Promise<TableAccess> {
  const ways = waysOfRequest(request);
  if (ways.length === 0) return NO_ACCESS;
  const delegation = await delegate(context, { principal: request.claims, place }, ways);
  if (delegation.kind === 'local') return NO_ACCESS;
  return {
    members: membersOf(delegation, place, request.origin),
    variant: variantOf(delegation, request.claims),
    isSecret: delegation.kind === 'key',
  };
}

export const waysOfRequest = ({ headers }: RestRequest): ReturnType<typeof waysOf> =>
  waysOf(headers['x-iceberg-access-delegation']);

/** The path of a table, relative to the address of the catalog: clients put that before it. */
const pathOf = ({ catalog, ident }: Pick<Place, 'catalog' | 'ident'>): string =>
  `v1/${encodeURIComponent(catalog)}/namespaces/${encodeURIComponent(joinPath(ident.namespace))}/tables/${encodeURIComponent(ident.name)}`;

/** The entry of `storage-credentials`, which has one at most: clients get confused by more. */
export const credentialOf = (
  { prefix, key, isOfContainer, settings }: Extract<Delegation, { kind: 'key' }>,
  place: Pick<Place, 'catalog' | 'ident'>,
): { readonly prefix: string; readonly config: Properties } => ({
  prefix,
  config: {
    ...storeKeyProperties(settings, key, { location: prefix, refresh: `${pathOf(place)}/credentials` }),
    ...(isOfContainer ? { 'skein.vended-credentials': 'container' } : {}),
  },
});

function membersOf(
  delegation: Exclude<Delegation, { kind: 'local' }>,
  place: Place,
  origin: string | undefined,
): JsonObject {
  const { kind, settings } = delegation;
  const own = storeProperties(settings, place.location);
  switch (kind) {
    case 'refused':
    case 'configuration':
      return { config: own };
    case 'unavailable':
      return { config: { ...own, 'skein.vended-credentials': 'unavailable' } };
    case 'key': {
      const credential = credentialOf(delegation, place);
      // Older clients read the key in `config`.
      return { config: credential.config, 'storage-credentials': [credential] };
    }
    case 'signing':
      return {
        config: { ...own, ...signerProperties(`${pathOf(place)}/sign`, origin) },
        'remote-signing-config': {},
      };
    default:
      return unreachable(kind);
  }
}

/** The names of three generations of clients: the specification's, those before it, and PyIceberg's. */
const signerProperties = (endpoint: string, origin: string | undefined): Properties => ({
  's3.remote-signing-enabled': 'true',
  'signer.endpoint': endpoint,
  's3.signer.endpoint': endpoint,
  's3.signer': 'S3V4RestSigner',
  // The only one of PyIceberg's ways to files that has a signer.
  'py-io-impl': 'pyiceberg.io.fsspec.FsspecFileIO',
  // Clients take the address of the catalog otherwise, which they know better behind a proxy.
  ...(origin === undefined ? {} : { 'signer.uri': origin, 's3.signer.uri': origin }),
});

const variantOf = (delegation: Delegation, { sub }: Principal): string =>
  `${delegation.kind} ${'permission' in delegation ? delegation.permission : ''} ${sub}`;
