import { SkeinError } from '#shared/error.ts';
import type { Json } from '#shared/json.ts';
import { asArray, asObject, get, requiredString, stringList } from '../commit/json-reader.ts';
import type { TableTarget } from '../commit/creation.ts';
import { LEVEL_SEPARATOR, splitPath, type NamespacePath } from '../store/postgres/namespace-store.ts';
import type { TableIdent } from '../store/postgres/table-store.ts';
import type { RestRequest } from './operation.ts';

/** Names in paths, parameters and bodies. Errors are INVALID_REQUEST. */

const NAME_LENGTH_MAX = 1_000;
const LEVELS_MAX = 50;
/** No name of a level or table may hold these: the unit separator joins levels, NUL ends text in Postgres. */
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
  return path;
}

export function checkName(name: string, what: string): string {
  if (name === '' || name.length > NAME_LENGTH_MAX || FORBIDDEN.some((char) => name.includes(char))) {
    throw new SkeinError('INVALID_REQUEST', `Invalid ${what} name: ${JSON.stringify(name.slice(0, 100))}`);
  }
  return name;
}

/** The table that the path of a request names. */
export const tableTarget = (request: RestRequest): TableTarget => ({
  claims: request.claims,
  catalog: request.params['prefix'] ?? '',
  ident: {
    namespace: namespaceOf(request.params['namespace'] ?? ''),
    name: checkName(request.params['table'] ?? '', 'table'),
  },
});

/** The view that the path of a request names. */
export const viewTarget = (request: RestRequest): TableTarget => ({
  claims: request.claims,
  catalog: request.params['prefix'] ?? '',
  ident: {
    namespace: namespaceOf(request.params['namespace'] ?? ''),
    name: checkName(request.params['view'] ?? '', 'view'),
  },
});

/** `TableIdentifier` of the REST specification. */
export function identOfJson(json: Json | undefined, what: string): TableIdent {
  const object = asObject(json, what);
  return {
    namespace: namespaceOfJson(get(object, 'namespace')),
    name: checkName(requiredString(object, 'name'), 'table'),
  };
}
