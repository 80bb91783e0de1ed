import { SkeinError } from '#shared/error.ts';
import { isWithin, normalizeLocation } from '#shared/storage/location.ts';
import type { Properties, TableMetadata } from '../commit/table-metadata.ts';
import type { TableIdent } from '../store/postgres/table-store.ts';

/** Where tables and their metadata lie. Pure. */

const SLUG_LENGTH_MAX = 40;
const LOCATION_LENGTH_MAX = 4_096;

/**
 * A location that no table had before or will have: `<root>/<namespace>/<table>-<uuid>`. The names are there for people, reduced to
 * characters that need no escape anywhere (clients disagree on `+ & = # ? %` and spaces).
 */
export function newTableLocation(root: string, { namespace, name }: TableIdent, uuid: string): string {
  const folder = slug(namespace.join('-')) || 'namespace';
  const leaf = [slug(name), uuid].filter((part) => part !== '').join('-');
  return `${root}/${folder}/${leaf}`;
}

const slug = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, SLUG_LENGTH_MAX);

/**
 * A location that a client chose, normalised. @throws INVALID_REQUEST unless it is below the catalog's root (a table at the root itself
 * would hold all others).
 */
export function requireBelowRoot(location: string, root: string): string {
  if (location.length > LOCATION_LENGTH_MAX) throw new SkeinError('INVALID_REQUEST', 'the location is too long');
  const normal = normalizeLocation(location);
  if (normal === normalizeLocation(root) || !isWithin(normal, root)) {
    throw new SkeinError('INVALID_REQUEST', `Location ${location} is not inside of the catalog's location ${root}`);
  }
  return normal;
}

/** Without the slashes at its end: clients append `/data` and `/metadata`. */
const withoutTrailingSlash = (location: string): string => location.replace(/(?<=[^/:])\/+$/, '');

/** A client's spelling of a location, as long as it says plainly where it is: without `..`, `.` and empty segments. */
export const plainLocation = (location: string): string =>
  /\/\.{0,2}(\/|$)/.test(location.replace(/^[a-z0-9+.-]+:\/*|\/+$/gi, ''))
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
 * Every location that table metadata names must be inside of the catalog's root: readers trust it.
 * `base` is what was there before: what it names has been checked.
 * @throws INVALID_REQUEST
 */
export function checkLocations(metadata: TableMetadata, base: TableMetadata | undefined, root: string): void {
  if (metadata.location !== base?.location) requireBelowRoot(metadata.location, root);
  for (const name of FOLDER_PROPERTIES) {
    const folder = metadata.properties[name];
    if (folder !== undefined && folder !== base?.properties[name]) requireBelowRoot(folder, root);
  }
  const known = new Set(base?.snapshots.map((snapshot) => snapshot['snapshot-id']));
  for (const snapshot of metadata.snapshots) {
    if (known.has(snapshot['snapshot-id'])) continue;
    for (const file of [snapshot['manifest-list'] ?? [], snapshot.manifests ?? []].flat()) requireBelowRoot(file, root);
  }
  for (const list of ['statistics', 'partition-statistics'] as const) {
    if (metadata[list] === base?.[list]) continue;
    for (const file of metadata[list]) requireBelowRoot(file['statistics-path'], root);
  }
}

/** The file of a table's n-th metadata. */
export function metadataLocation(
  table: { readonly location: string; readonly properties: Properties },
  version: number,
  uuid: string,
): string {
  const folder = table.properties['write.metadata.path'] ?? `${table.location}/metadata`;
  return `${withoutTrailingSlash(folder)}/${String(version).padStart(5, '0')}-${uuid}.metadata.json`;
}
