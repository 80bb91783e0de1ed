import { SkeinError } from '#shared/error.ts';
import type { Json } from '#shared/json.ts';
import { asArray, asObject, get, requiredString, stringList } from './json-reader.ts';
import type { Properties } from './table-document.ts';
import { LEVEL_SEPARATOR, splitPath, type NamespacePath } from './object-name.ts';
import type { TableIdent } from './object-name.ts';

/** Names in paths, parameters and bodies. Errors are INVALID_REQUEST. */

/**
 * Maximum length of a name in bytes of UTF-8. Names are in Postgres indexes, whose rows have a limit of 2,704 bytes; case folding may add
 * half.
 */
const NAME_BYTES_MAX = 1_000;

const PATH_BYTES_MAX = 1_700;

const LEVELS_MAX = 50;

/** Maximum size of all properties of a namespace, as JSON. */
const PROPERTIES_BYTES_MAX = 1024 * 1024;

/** Characters that no name may contain: the unit separator joins levels, NUL ends text in Postgres. */
const FORBIDDEN = ['\0', LEVEL_SEPARATOR];

/** A namespace of several levels, joined by the unit separator (`%1F` in a path, decoded here already). */
export const namespaceOf = (text: string): NamespacePath => checkPath(splitPath(text));

export const namespaceOfJson = (json: Json | undefined): NamespacePath =>
  checkPath(stringList(asArray(json, 'namespace'), 'namespace'));

function checkPath(path: NamespacePath): NamespacePath {
  if (path.length === 0 || path.length > LEVELS_MAX) {
    throw new SkeinError(
      'INVALID_REQUEST',
      `Invalid namespace: it has ${path.length} levels, 1 to ${LEVELS_MAX} are allowed`,
    );
  }
  for (const level of path) checkName(level, 'namespace');
  if (Buffer.byteLength(path.join(LEVEL_SEPARATOR)) > PATH_BYTES_MAX) {
    throw new SkeinError('INVALID_REQUEST', `Invalid namespace: longer than ${PATH_BYTES_MAX} bytes`);
  }
  return path;
}

export function checkName(name: string, what: string): string {
  if (name === '' || !name.isWellFormed() || FORBIDDEN.some((char) => name.includes(char))) {
    throw new SkeinError('INVALID_REQUEST', `Invalid ${what} name: ${JSON.stringify(name.slice(0, 100))}`);
  }
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) {
    throw new SkeinError('INVALID_REQUEST', `Invalid ${what} name: longer than ${NAME_BYTES_MAX} bytes`);
  }
  return name;
}

/** @throws INVALID_REQUEST when a namespace's properties are too many. */
export function checkProperties(properties: Properties): void {
  if (Buffer.byteLength(JSON.stringify(properties)) > PROPERTIES_BYTES_MAX) {
    throw new SkeinError('INVALID_REQUEST', `the properties are longer than ${PROPERTIES_BYTES_MAX} bytes`);
  }
}

/** `TableIdentifier` of the REST specification. */
export function identOfJson(json: Json | undefined, what: string): TableIdent {
  const object = asObject(json, what);
  return {
    namespace: namespaceOfJson(get(object, 'namespace')),
    name: checkName(requiredString(object, 'name'), 'table'),
  };
}
