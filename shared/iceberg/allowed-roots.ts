import { SkeinError } from '#shared/error.ts';
import { isWithin, normalizeLocation } from '#shared/storage/location.ts';

/** Returns a check that throws INVALID_TABLE_DATA for a location outside of `roots`; it is fast, because tables have very many files. */
export function requireWithin(roots: readonly string[]): (location: string) => void {
  const prefixes = roots.map((root) => `${normalizeLocation(root)}/`);
  return (location) => {
    const plain = location.startsWith('/') ? `file://${location}` : location;
    const path = plain.slice(plain.indexOf('://') + 3);
    if (!IRREGULAR.test(path) && prefixes.some((prefix) => plain.startsWith(prefix))) return;
    if (roots.some((root) => isWithinSafely(location, root))) return;
    throw new SkeinError('INVALID_TABLE_DATA', `${location} lies outside of the table's allowed locations`);
  };
}

/** Matches the parts that `normalizeLocation` would change or refuse: empty, `.` and `..` segments, NUL. */
const IRREGULAR = /\/\.{0,2}(\/|$)|\0/;

function isWithinSafely(location: string, root: string): boolean {
  try {
    return isWithin(location, root);
  } catch {
    return false;
  }
}
