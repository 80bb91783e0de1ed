import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import type { S3Credential } from '#shared/storage/credential.ts';
import { s3Location } from '#shared/storage/s3/s3-object.ts';
import { hasSts, type S3Settings } from '../../metadata/s3-settings.ts';
import type { StorageSettings } from '../../metadata/storage-settings.ts';
import type { Permission } from '../../storage/session-policy.ts';
import type { FilePlace } from '../../store/postgres/file-place-store.ts';
import type { Asked } from '../delegation-log.ts';
import { filesOf, keepTime, requireFolders, tableKey, type DelegationParts, type KeyWish } from '../table-files.ts';
import { checkRequest, type StoreRequest } from './check-request.ts';
import { presignRequest, signRequest } from './sign-request.ts';
import { readStoreUri } from './store-uri.ts';

/** A request as a client names it. */
export type NamedRequest = {
  readonly method: string;
  readonly uri: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body?: string | undefined;
};

/** Longest life of a presigned address. */
const PRESIGNED_SECONDS_MAX = 900;

/** A store takes a signature for so long, and a presigned address no longer. */
const SIGNATURE_MS = PRESIGNED_SECONDS_MAX * 1_000;
/** The end of signatures is kept in steps, so that it is written once for many. */
const KEPT_STEP_MS = 600_000;

type Table = { readonly principal: Principal; readonly place: FilePlace };

export type Signed = { readonly permission: Permission; readonly headers: Readonly<Record<string, string>> };
export type Presigned = {
  readonly uri: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAtMs: number;
};

/**
 * Signs a request to the store for a table's files.
 * @throws FORBIDDEN, INVALID_REQUEST, NOT_SUPPORTED for local files, STORAGE_ERROR
 */
export const signForTable = (parts: DelegationParts, table: Table, named: NamedRequest): Promise<Signed> =>
  told(parts, table, named, async (request, permission, key) => ({
    permission,
    headers: await signRequest(request, key),
  }));

/** The same as an address that holds the signature. @throws as `signForTable` */
export const presignForTable = (parts: DelegationParts, table: Table, named: NamedRequest): Promise<Presigned> =>
  told(parts, table, named, async (request, _permission, key) => {
    const now = Date.now();
    const leftSeconds = Math.floor(((key.expiresAtMs ?? Infinity) - now) / 1_000);
    const lifeSeconds = Math.max(1, Math.min(PRESIGNED_SECONDS_MAX, leftSeconds));
    const signed = await presignRequest(request, key, lifeSeconds);
    return { ...signed, expiresAtMs: now + lifeSeconds * 1_000 };
  });

/** Checks a request, lets it be signed with a key that opens no more than the table, and tells the log how it went. */
async function told<T>(
  parts: DelegationParts,
  { principal, place }: Table,
  named: NamedRequest,
  sign: (request: StoreRequest, permission: Permission, key: S3Credential) => Promise<T>,
): Promise<T> {
  let asked: Asked = { event: 'sign', principal, table: place, method: named.method, key: named.uri };
  try {
    const may = filesOf(principal, place);
    if (typeof may !== 'string') throw new SkeinError('FORBIDDEN', may.refused);
    const { profile, folders } = place;
    if (profile === undefined) throw new SkeinError('NOT_SUPPORTED', 'the files of this table do not lie in a bucket');
    requireFolders(place);
    const uri = readStoreUri(named.uri, requireS3(profile.settings));
    asked = { ...asked, key: s3Location(uri) };
    const request = { method: named.method, uri, headers: named.headers, body: named.body };
    const needs = checkRequest(request, folders);
    if (needs === 'write' && may === 'read') throw new SkeinError('FORBIDDEN', 'the token lacks the scope table:write');
    const holder = principal.sub;
    const key = await keyFor(parts, place, { holder, permission: needs });
    const untilMs = Math.ceil((Date.now() + SIGNATURE_MS) / KEPT_STEP_MS) * KEPT_STEP_MS;
    await keepTime(parts.store.db, place.tableId, { holder, untilMs });
    const signed = await sign(request, needs, key);
    parts.delegationLog.granted(asked);
    return signed;
  } catch (error) {
    parts.delegationLog.refused(asked, SkeinError.of(error).message);
    throw error;
  }
}

/** Some stores obey a source of a copy that was added unsigned: a key that opens the table alone reads no other one even then. */
async function keyFor(parts: DelegationParts, place: FilePlace, wish: KeyWish): Promise<S3Credential> {
  const { profile } = place;
  const settings = profile === undefined ? undefined : requireS3(profile.settings);
  if (profile === undefined || settings === undefined || hasSts(settings)) {
    const key = await tableKey(parts, place, wish);
    return key.kind === 's3' ? key : onlyS3();
  }
  if (wish.permission === 'write' && settings.refusesUnsignedCopies !== true) {
    throw new SkeinError(
      'FORBIDDEN',
      `requests that write are not signed: the store of catalog ${place.catalog} gives no temporary keys, and "skein admin catalog check" has not found that it refuses a copy whose source was not signed`,
    );
  }
  return parts.storages.signingKey(profile);
}

function onlyS3(): never {
  throw new SkeinError('NOT_SUPPORTED', 'requests are signed for S3 alone');
}

/** @throws NOT_SUPPORTED */
const requireS3 = (settings: StorageSettings): S3Settings => (settings.kind === 's3' ? settings : onlyS3());
