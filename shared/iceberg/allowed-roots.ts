import { SkeinError } from '#shared/error.ts';
import { isOfStages } from '#shared/stage/stage-folders.ts';
import { deniedFolders, openRoots } from '#shared/storage/denied-roots.ts';
import { isWithin, normalizeLocation, withAncestors } from '#shared/storage/location.ts';

/** Returns a check that throws INVALID_TABLE_DATA for a location outside of `roots`. */
export function requireWithin(roots: readonly string[]): (location: string) => void {
  const isAllowed = withinRoots(roots);
  return (location) => {
    if (isAllowed(location)) return;
    throw new SkeinError('INVALID_TABLE_DATA', `${location} lies outside of the table's allowed locations`);
  };
}

/**
 * Returns whether a location lies within one of `roots`, in none that is denied (`denied-roots.ts`), and is no file of a stage; it is fast,
 * because tables have very many files.
 */
export function withinRoots(roots: readonly string[]): (location: string) => boolean {
  const open = openRoots(roots);
  const prefixes = open.map((root) => `${normalizeLocation(root)}/`);
  const isDenied = belowDenied(roots);
  return (location) => {
    const plain = location.startsWith('/') ? `file://${location}` : location;
    const path = plain.slice(plain.indexOf('://') + 3);
    if (!IRREGULAR.test(path) && prefixes.some((prefix) => plain.startsWith(prefix))) {
      return !isOfStages(path) && !isDenied(plain);
    }
    return open.some((root) => isTableFile(location, root)) && !isDenied(normalizeLocation(location));
  };
}

/** Matches the parts that `normalizeLocation` would change or refuse: empty, `.` and `..` segments, NUL. */
const IRREGULAR = /\/\.{0,2}(\/|$)|\0/;

/** Whether a normalised location lies in a denied folder: as fast for many folders as for one. */
function belowDenied(roots: readonly string[]): (normal: string) => boolean {
  const denied = new Set(deniedFolders(roots).map(normalizeLocation));
  if (denied.size === 0) return () => false;
  return (normal) => withAncestors(normal).some((folder) => denied.has(folder));
}

function isTableFile(location: string, root: string): boolean {
  try {
    return isWithin(location, root) && !isOfStages(normalizeLocation(location));
  } catch {
    return false;
  }
}

/** Whether a file lies below one of the roots, and is none of a stage; false for a text that is no location. */
export function isBelow(file: string, roots: readonly string[]): boolean {
  try {
    const normal = normalizeLocation(file);
    const isInside = openRoots(roots).some((root) => normal !== normalizeLocation(root) && isWithin(normal, root));
    return isInside && !isOfStages(normal) && !belowDenied(roots)(normal);
  } catch {
    return false;
  }
}
