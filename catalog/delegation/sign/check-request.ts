import { SkeinError } from '#shared/error.ts';
import { normalizeLocation } from '#shared/storage/location.ts';
import { s3Location } from '#shared/storage/s3/s3-object.ts';
import type { Permission } from '../../storage/session-policy.ts';
import { deletedKeys } from './deleted-keys.ts';
import { decodedAgain, requirePlainSegments, type StoreUri } from './store-uri.ts';

/** A request to the store that a client wants signed. */
export type StoreRequest = {
  readonly method: string;
  readonly uri: StoreUri;
  /** By their names in small letters. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body of a deletion of many objects. */
  readonly body: string | undefined;
};

/** A kind of request: the parameters that it has, those that it may have, and the permission that it needs. */
type Kind = {
  readonly method: string;
  readonly of: 'object' | 'bucket';
  readonly has: readonly string[];
  readonly may: readonly string[];
  readonly needs: Permission;
};

const of = (
  method: string,
  what: Kind['of'],
  has: readonly string[],
  may: readonly string[],
  needs: Permission,
): Kind => ({ method, of: what, has, may: [...may, 'x-id'], needs });

/** Everything that is signed. A sub-resource that is not here (`acl`, `policy`, `versionId`, ...) is refused. */
const KINDS: readonly Kind[] = [
  of('GET', 'object', [], ['partNumber'], 'read'),
  of('HEAD', 'object', [], ['partNumber'], 'read'),
  of('PUT', 'object', [], [], 'write'),
  of('DELETE', 'object', [], [], 'write'),
  // Uploads in parts.
  of('POST', 'object', ['uploads'], [], 'write'),
  of('PUT', 'object', ['partNumber', 'uploadId'], [], 'write'),
  of('GET', 'object', ['uploadId'], ['max-parts', 'part-number-marker'], 'write'),
  of('POST', 'object', ['uploadId'], [], 'write'),
  of('DELETE', 'object', ['uploadId'], [], 'write'),
  // Many objects.
  of(
    'GET',
    'bucket',
    ['list-type', 'prefix'],
    ['delimiter', 'encoding-type', 'max-keys', 'continuation-token', 'start-after', 'fetch-owner'],
    'read',
  ),
  of('POST', 'bucket', ['delete'], [], 'write'),
];

const METHODS: ReadonlySet<string> = new Set(KINDS.map(({ method }) => method));

/** Headers that change who may reach an object, or what becomes of it later. */
const POWERS = /^x-amz-(?:acl|grant-|object-lock-|bypass-|website-|mfa$|expected-bucket-owner-)/;
/** Lists of rights that give nothing to anybody else. */
const OWN_ACLS: ReadonlySet<string> = new Set(['private', 'bucket-owner-full-control']);

/**
 * Says which permission a request needs, if all that it touches lies in the folders.
 * @throws INVALID_REQUEST for a method or a body that no store takes, FORBIDDEN for a request that reaches beyond the folders, or that is of
 * no kind which is signed
 */
export function checkRequest(request: StoreRequest, folders: readonly string[]): Permission {
  const { method, uri, headers, body } = request;
  if (!METHODS.has(method))
    throw new SkeinError('INVALID_REQUEST', `no request of the method ${method.slice(0, 20)} is signed`);
  const target = uri.key === '' ? 'bucket' : 'object';
  const kind = KINDS.find(
    ({ method: its, of: what, has, may }) =>
      its === method &&
      what === target &&
      has.every((name) => uri.query.has(name)) &&
      [...uri.query.keys()].every((name) => has.includes(name) || may.includes(name)),
  );
  if (kind === undefined) throw new SkeinError('FORBIDDEN', 'requests of this kind are not signed');
  const requireOwn = (key: string): void => requireWithin(uri.bucket, key, folders);
  if (target === 'object') requireOwn(uri.key);
  else if (method === 'GET') requireList(uri, folders);
  else {
    if (body === undefined)
      throw new SkeinError('INVALID_REQUEST', 'a deletion of many objects is signed with its body only');
    for (const key of deletedKeys(body)) requireOwn(key);
  }
  for (const [name, value] of headers) {
    if (POWERS.test(name) && !(name === 'x-amz-acl' && OWN_ACLS.has(value))) {
      throw new SkeinError('FORBIDDEN', `requests with the header ${name.slice(0, 100)} are not signed`);
    }
  }
  const source = headers.get('x-amz-copy-source');
  if (source !== undefined) requireSource(kind, source, folders);
  return kind.needs;
}

function requireList({ bucket, query }: StoreUri, folders: readonly string[]): void {
  if (query.get('list-type') !== '2') throw new SkeinError('FORBIDDEN', 'lists of the first version are not signed');
  // With its slash, so that it finds nothing beside the folder.
  const prefix = query.get('prefix') ?? '';
  requirePlainSegments(prefix);
  if (folders.some((folder) => s3Location({ bucket, key: prefix }).startsWith(`${folder}/`))) return;
  throw new SkeinError('FORBIDDEN', 'the prefix of the list is not a folder of the table, with its slash');
}

/** The source of a copy is an escaped `bucket/key`. @throws INVALID_REQUEST, FORBIDDEN */
function requireSource({ method }: Kind, source: string, folders: readonly string[]): void {
  if (method !== 'PUT') throw new SkeinError('FORBIDDEN', 'only objects are copied');
  if (source.includes('?')) throw new SkeinError('FORBIDDEN', 'the source of a copy has no version');
  const plain = decodedAgain(source).replace(/^\//, '');
  const at = plain.indexOf('/');
  if (at < 1) throw new SkeinError('INVALID_REQUEST', 'the source of a copy is a bucket and a key');
  // A store may read it as it is written, too.
  requireWithin(plain.slice(0, at), plain.slice(at + 1), folders);
  const written = source.replace(/^\//, '');
  if (!written.includes('%')) return;
  requireWithin(written.slice(0, written.indexOf('/')), written.slice(written.indexOf('/') + 1), folders);
}

/** @throws FORBIDDEN unless an object lies below one of the folders, also for one who decodes its key once more */
function requireWithin(bucket: string, key: string, folders: readonly string[]): void {
  for (const text of [key, decodedAgain(key)]) {
    if (!isBelow(s3Location({ bucket, key: text }), folders)) {
      throw new SkeinError('FORBIDDEN', 'the request is for an object that is not the table’s');
    }
  }
}

function isBelow(location: string, folders: readonly string[]): boolean {
  try {
    // It refuses segments . and .. as well.
    normalizeLocation(location);
  } catch {
    return false;
  }
  return folders.some((folder) => location.startsWith(`${folder}/`) && location.length > folder.length + 1);
}
