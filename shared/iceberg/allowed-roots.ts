import { SkeinError } from '#shared/error.ts';
import { isOfStages } from '#shared/stage/stage-folders.ts';
import { isWithin, normalizeLocation } from '#shared/storage/location.ts';

/** Returns a check that throws INVALID_TABLE_DATA for a location outside of `roots`. */
export function requireWithin(roots: readonly string[]): (location: string) => void {
  const isAllowed = withinRoots(roots);
  return (location) => {
    if (isAllowed(location)) return;
    throw new SkeinError('INVALID_TABLE_DATA', `${location} lies outside of the table's allowed locations`);
  };
}

/**
 * Returns whether a location lies within one of `roots`, and is no file of a stage; it is fast, because tables have very many files.
 */
export function withinRoots(roots: readonly string[]): (location: string) => boolean {
  const prefixes = roots.map((root) => `${normalizeLocation(root)}/`);
  return (location) => {
    const plain = location.startsWith('/') ? `file://${location}` : location;
    const path = plain.slice(plain.indexOf('://') + 3);
    if (!IRREGULAR.test(path) && prefixes.some((prefix) => plain.startsWith(prefix))) return !isOfStages(path);
    return roots.some((root) => isTableFile(location, root));
  };
}

/** Matches the parts that `normalizeLocation` would change or refuse: empty, `.` and `..` segments, NUL. */
const IRREGULAR = /\/\.{0,2}(\/|$)|\0/;

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
    const isInside = roots.some((root) => normal !== normalizeLocation(root) && isWithin(normal, root));
    return isInside && !isOfStages(normal);
  } catch {
    return false;
  }
}
