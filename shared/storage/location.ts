import { posix } from 'node:path';
import { SkeinError } from '#shared/error.ts';

/**
 * Locations are URIs (`file:/a/b`, `file:///a/b`, a bare absolute path, `s3://bucket/key`, `gs://bucket/key`,
 * `abfss://container@account.dfs.core.windows.net/key`). Clients write a local location in all three forms, `s3a:` or `s3n:` for `s3:`, and
 * `abfs:`, `wasb:` or `wasbs:` and the host `blob` for Azure's, so locations are compared only after `normalizeLocation`.
 */

const FILE_ROOT = 'file:///';

/**
 * Returns the canonical form: `file:///a/b` without `.`, `..`, doubled or trailing slashes; `s3://bucket/key` (and those of other stores) with the key byte for byte,
 * because `a//b` is another object than `a/b`, but for one slash at its end.
 * @throws INVALID_REQUEST on anything else, and for a key with a segment `.` or `..`, which some stores and proxies resolve
 */
export function normalizeLocation(location: string): string {
  if (location.startsWith('/')) return `file://${cleanPath(location)}`;
  if (location.startsWith(FILE_ROOT)) return `file://${cleanPath(location.slice(FILE_ROOT.length - 1))}`;
  const match = /^([a-z][a-z0-9+.-]*):(\/\/)?(.*)$/i.exec(location);
  if (match === null) throw new SkeinError('INVALID_REQUEST', `not a location: ${location}`);
  const scheme = (match[1] ?? '').toLowerCase();
  const rest = match[3] ?? '';
  if (scheme === 'file') {
    const path = match[2] === undefined ? rest : rest.replace(/^localhost(?=\/)/, '');
    if (!path.startsWith('/')) throw new SkeinError('INVALID_REQUEST', `not an absolute file location: ${location}`);
    return `file://${cleanPath(path)}`;
  }
  if (S3_SCHEMES.has(scheme)) return `s3://${bucketKey(location, rest, BUCKET)}`;
  if (scheme === 'gs') return `gs://${bucketKey(location, rest, BUCKET)}`;
  if (AZURE_SCHEMES.has(scheme))
    return `abfss://${bucketKey(location, rest.replace(AZURE_HOST, '$1.dfs.'), CONTAINER)}`;
  const [authority = '', ...segments] = rest.split('/');
  return `${scheme}://${authority}${cleanPath(`/${segments.join('/')}`)}`.replace(/\/$/, '');
}

/** The stores of buckets, by the schemes of their normalised locations. */
const STORES = { s3: 's3', gs: 'gcs', abfss: 'adls' } as const;
/** A kind of store that has buckets. */
export type StoreKind = (typeof STORES)[keyof typeof STORES];

/** The kind of store in which a normalised location lies; undefined for local files, and for what no store serves. */
export const storeKind = (normal: string): StoreKind | undefined =>
  Object.entries(STORES).find(([scheme]) => normal.startsWith(`${scheme}://`))?.[1];

/** Whether a normalised location lies in a bucket. */
export const isInBucket = (normal: string): boolean => storeKind(normal) !== undefined;

/** How locations of a storage begin, and their canonical beginning. */
const BEGINNINGS: readonly (readonly [RegExp, string])[] = [
  [/^s3[an]?:\/\//i, 's3://'],
  [/^gs:\/\//i, 'gs://'],
  [/^(?:abfs|wasb)s?:\/\/([a-z0-9$-]+@[a-z0-9]+)\.(?:dfs|blob)\./i, 'abfss://$1.dfs.'],
  [/^(?:file:(?:\/\/(?:localhost)?)?)?(?=\/)/i, 'file://'],
];

/**
 * A text that is equal for the schemes with which programs spell one location, for comparisons of very many: unlike `normalizeLocation` it
 * changes nothing but the beginning, so that keys have the order of their locations. The text itself where the beginning is another one.
 */
export const locationKey = (location: string): string =>
  location.startsWith('s3://') || location.startsWith('gs://') || location.startsWith(FILE_ROOT)
    ? location
    : (keyOf(location)?.key ?? location);

function keyOf(location: string): { readonly key: string; readonly beginning: string } | undefined {
  for (const [pattern, canonical] of BEGINNINGS) {
    const beginning = pattern.exec(location)?.[0];
    if (beginning !== undefined) return { key: location.replace(pattern, canonical), beginning };
  }
  return undefined;
}

/**
 * Bounds of some locations as bounds of their keys; undefined when they say nothing of these: a bound may be cut within its scheme, and
 * bounds of locations with different schemes do not bound the rest.
 */
export function keyBounds(
  lower: string,
  upper: string,
): { readonly lower: string; readonly upper: string } | undefined {
  const [first, last] = [keyOf(lower), keyOf(upper)];
  if (first === undefined || last === undefined || first.beginning !== last.beginning) return undefined;
  return { lower: first.key, upper: last.key };
}

/** The spellings that writers use for a location: they differ in what stands before its path, or its bucket. */
export function spellings(location: string): Set<string> {
  const normal = normalizeLocation(location);
  if (normal.startsWith('s3://')) {
    const rest = normal.slice('s3'.length);
    return new Set([location, normal, `s3a${rest}`, `s3n${rest}`]);
  }
  if (normal.startsWith('abfss://')) {
    const rest = normal.slice('abfss'.length);
    const hosts = [rest, rest.replace('.dfs.', '.blob.')];
    return new Set([
      location,
      ...hosts.flatMap((one) => ['abfss', 'abfs', 'wasbs', 'wasb'].map((scheme) => scheme + one)),
    ]);
  }
  if (!normal.startsWith('file://')) return new Set([location, normal]);
  const path = normal.slice('file://'.length);
  return new Set([location, normal, path, `file:${path}`]);
}

/** Whether `location` is `root` or below it, segment by segment (`/a/bc` is not below `/a/b`). */
export function isWithin(location: string, root: string): boolean {
  const inner = normalizeLocation(location);
  const outer = normalizeLocation(root);
  return inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`);
}

/** A normalised location and all folders above it, from the inside out. */
export function withAncestors(location: string): string[] {
  const found = [location];
  for (let end = location.lastIndexOf('/'); end > 0; end = location.lastIndexOf('/', end - 1)) {
    found.push(location.slice(0, end));
  }
  return found;
}

/** Returns the local path of a `file:` location. Percent escapes are not decoded, because Iceberg clients write raw characters. */
export function localPath(location: string): string {
  const normal = normalizeLocation(location);
  if (!normal.startsWith('file:///')) throw new SkeinError('NOT_SUPPORTED', `not a local location: ${location}`);
  return normal.slice('file://'.length);
}

/** Escapes of a dot, a slash or a backslash. */
const ESCAPED = /%(?:2e|2f|5c)/i;
/** A location whose escapes are escaped more often is refused. */
const ESCAPES_OF_ESCAPES_MAX = 8;

/**
 * Skein reads no escape in a location, and clients do, some twice: one that holds `%2e%2e` or `%2f` is another place to them, which nobody has
 * compared with the roots and with the folders of other tables. @throws INVALID_REQUEST
 */
export function requireNoEscape(location: string): void {
  let text = location;
  for (let round = 0; round <= ESCAPES_OF_ESCAPES_MAX && !ESCAPED.test(text); round++) {
    const next = text.replaceAll(/%([0-7][0-9a-fA-F])/g, (_all, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
    if (next === text) return;
    text = next;
  }
  throw new SkeinError(
    'INVALID_REQUEST',
    `Location ${location} holds an escaped dot, slash or backslash, which clients read in different ways`,
  );
}

/** Removes trailing slashes, because writers append `/data` and `/metadata`. */
export const withoutTrailingSlash = (location: string): string => location.replace(/(?<=[^/:])\/+$/, '');

/** The last part of a location. */
export const fileName = (location: string): string => location.slice(location.lastIndexOf('/') + 1);

/** Returns the location of a local path. */
export const fileLocation = (path: string): string => normalizeLocation(path);

/** Finds parts that a canonical path does not have: a doubled or trailing slash, `.`, `..`, NUL. Hardly any location has it. */
const UNCLEAN = /\/\.{0,2}(?:\/|$)|\0/;

const S3_SCHEMES: ReadonlySet<string> = new Set(['s3', 's3a', 's3n']);
/** A bucket's name; old ones have capitals and underscores. */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/;

/** A container of Azure and the host of its account; a dot behind a host's last label would be another spelling of it. */
const CONTAINER = /^[a-z0-9$](?:[a-z0-9-]{0,62})@[a-z0-9]{3,24}\.dfs(?:\.[a-z0-9-]{1,63}){1,10}$/;
const AZURE_SCHEMES: ReadonlySet<string> = new Set(['abfs', 'abfss', 'wasb', 'wasbs']);
/** An account has a host for files and one for objects. */
const AZURE_HOST = /^([^/@]+@[^/.]+)\.(?:dfs|blob)\./;

/** @throws INVALID_REQUEST */
function bucketKey(location: string, rest: string, name: RegExp): string {
  const slash = rest.indexOf('/');
  const bucket = slash === -1 ? rest : rest.slice(0, slash);
  const key = slash === -1 ? '' : rest.slice(slash);
  if (!name.test(bucket)) throw new SkeinError('INVALID_REQUEST', `not a bucket: ${location}`);
  if (/\/\.{1,2}(?:\/|$)|\0/.test(key))
    throw new SkeinError('INVALID_REQUEST', `not a key that is served: ${location}`);
  return `${bucket}${key.endsWith('/') ? key.slice(0, -1) : key}`;
}

function cleanPath(path: string): string {
  if (!UNCLEAN.test(path)) return path;
  if (path.includes('\0')) throw new SkeinError('INVALID_REQUEST', 'a location holds a NUL');
  const clean = posix.normalize(path);
  return clean.length > 1 && clean.endsWith('/') ? clean.slice(0, -1) : clean;
}
