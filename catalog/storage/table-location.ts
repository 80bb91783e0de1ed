import { SkeinError } from '#shared/error.ts';
import { metadataFolder } from '#shared/iceberg/table-folders.ts';
import { isOfStages } from '#shared/stage/stage-folders.ts';
import {
  isInBucket,
  isWithin,
  normalizeLocation,
  requireNoEscape,
  withoutTrailingSlash,
} from '#shared/storage/location.ts';
import type { Properties, TableDocument } from '../metadata/table-document.ts';
import type { NamespacePath, TableIdent } from '../metadata/object-name.ts';

/** Locations of tables and their metadata. Pure. */

const SLUG_LENGTH_MAX = 40;
/** Maximum length of a location. A path of Linux has 4,096 bytes, and file names follow the location. */
const LOCATION_BYTES_MAX = 3_800;
/** Maximum length of one name in a path, as file systems have it. */
const SEGMENT_BYTES_MAX = 255;
/** Maximum length of a folder. Folders are in a Postgres index, whose rows have a limit of 2,704 bytes. */
const FOLDER_BYTES_MAX = 2_000;

/**
 * Returns a unique location that no other table ever has: `<root>/<namespace>/<table>-<uuid>`. The names are there for people, reduced to
 * characters that need no escape anywhere (clients disagree on `+ & = # ? %` and spaces).
 */
export const newTableLocation = (root: string, { namespace, name }: TableIdent, uuid: string): string =>
  `${namespaceLocation(root, namespace)}/${leafOf(name, uuid)}`;

/**
 * Returns an alternative location directly below the root, for when a client has put a table at the folder of the namespace. No table can
 * have the root itself.
 */
export const spareTableLocation = (root: string, { name }: TableIdent, uuid: string): string =>
  `${root}/${leafOf(name, uuid)}`;

const leafOf = (name: string, uuid: string): string => [slug(name), uuid].filter((part) => part !== '').join('-');

/**
 * Returns the folder of a namespace's tables, which other namespaces may share. Clients that choose locations themselves put theirs below
 * it.
 */
export const namespaceLocation = (root: string, namespace: NamespacePath): string =>
  `${root}/${slug(namespace.join('-')) || 'namespace'}`;

const slug = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, SLUG_LENGTH_MAX);

/**
 * Returns a location that a client chose, normalised. @throws INVALID_REQUEST unless it is below one of the catalog's roots (a table at the
 * root itself would contain all others)
 */
export function requireBelowRoot(location: string, roots: readonly string[]): string {
  // A lone surrogate is encoded differently by different writers.
  if (!location.isWellFormed()) throw new SkeinError('INVALID_REQUEST', 'the location is no Unicode text');
  if (Buffer.byteLength(location) > LOCATION_BYTES_MAX) {
    throw new SkeinError('INVALID_REQUEST', `the location is longer than ${LOCATION_BYTES_MAX} bytes`);
  }
  requireNoEscape(location);
  const normal = normalizeLocation(location);
  if (normal.split('/').some((segment) => Buffer.byteLength(segment) > SEGMENT_BYTES_MAX)) {
    throw new SkeinError('INVALID_REQUEST', `a name in the location is longer than ${SEGMENT_BYTES_MAX} bytes`);
  }
  if (roots.some((root) => normal === normalizeLocation(root)) || !roots.some((root) => isWithin(normal, root))) {
    throw new SkeinError(
      'INVALID_REQUEST',
      `Location ${location} is not inside of the catalog's location ${roots.join(' or ')}`,
    );
  }
  if (isInBucket(normal)) requirePlainKey(normal);
  if (isOfStages(normal)) throw new SkeinError('INVALID_REQUEST', `Location ${location} is for the files of stages`);
  return normal;
}

/** Longest location in a bucket: a key has at most 1,024 bytes, and file names follow the location. */
const KEY_FOLDER_BYTES_MAX = 700;

/** @throws INVALID_REQUEST */
function requirePlainKey(location: string): void {
  if (location.slice(location.indexOf('://') + '://'.length).includes('//')) {
    throw new SkeinError('INVALID_REQUEST', `Location ${location} has an empty name: many programs take it away`);
  }
  if (Buffer.byteLength(location) > KEY_FOLDER_BYTES_MAX) {
    throw new SkeinError('INVALID_REQUEST', `the location is longer than ${KEY_FOLDER_BYTES_MAX} bytes`);
  }
}

/** Returns the client's spelling of a location if it has no `..`, `.` or empty segments, else the normalised form. */
export const plainLocation = (location: string): string =>
  /\/\.{0,2}(\/|$)/.test(location.replace(/^[a-z0-9+.-]+:\/*/i, '').replace(/(?<!\/)\/+$/, ''))
    ? normalizeLocation(location)
    : withoutTrailingSlash(location);

/** Properties that name folders of a table. */
const FOLDER_PROPERTIES = [
  'write.data.path',
  'write.metadata.path',
  'write.object-storage.path',
  'write.folder-storage.path',
];

/**
 * Returns the table's own folders, normalised: its location, and the folders named by properties that lie elsewhere.
 * @throws INVALID_REQUEST on one that is no location, or too long to be compared.
 */
export function ownFolders(table: Pick<TableDocument, 'location' | 'properties'>): readonly string[] {
  const location = normalizeLocation(table.location);
  const named = FOLDER_PROPERTIES.flatMap((name) =>
    Object.hasOwn(table.properties, name) ? normalizeLocation(table.properties[name] ?? '') : [],
  );
  const folders = [location, ...new Set(named.filter((folder) => !isWithin(folder, location)))];
  if (folders.some((folder) => Buffer.byteLength(folder) > FOLDER_BYTES_MAX)) {
    throw new SkeinError('INVALID_REQUEST', `a location of a table is longer than ${FOLDER_BYTES_MAX} bytes`);
  }
  return folders;
}

/**
 * Checks that every location in table metadata lies in the catalog's roots: readers trust it. What equals `base`, the previous metadata,
 * was checked before.
 * @throws INVALID_REQUEST
 */
export function checkLocations(
  metadata: TableDocument,
  base: TableDocument | undefined,
  roots: readonly string[],
): void {
  if (metadata.location !== base?.location) requireBelowRoot(metadata.location, roots);
  for (const name of FOLDER_PROPERTIES) {
    const folder = metadata.properties[name];
    if (folder !== undefined && folder !== base?.properties[name]) requireBelowRoot(folder, roots);
  }
  const known = new Set(base?.snapshots.map((snapshot) => snapshot['snapshot-id']));
  for (const snapshot of metadata.snapshots) {
    if (known.has(snapshot['snapshot-id'])) continue;
    for (const file of [snapshot['manifest-list'] ?? [], snapshot.manifests ?? []].flat())
      requireBelowRoot(file, roots);
  }
  for (const list of ['statistics', 'partition-statistics'] as const) {
    if (metadata[list] === base?.[list]) continue;
    for (const file of metadata[list]) requireBelowRoot(file['statistics-path'], roots);
  }
}

/** Returns the path of a table's n-th metadata file. */
export function metadataLocation(
  table: { readonly location: string; readonly properties: Properties },
  version: number,
  uuid: string,
): string {
  return `${metadataFolder(table)}/${String(version).padStart(5, '0')}-${uuid}.metadata.json`;
}

/** The error for a client's location that cannot be a folder. */
export const inTheWay = (location: string, cause: unknown): SkeinError =>
  new SkeinError('INVALID_REQUEST', `Location ${location} cannot be a folder: a file lies there`, { cause });
