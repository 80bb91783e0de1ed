import type { TableTarget } from '../commit/creation.ts';
import type { TableIdent } from '../metadata/object-name.ts';
import type { RestRequest } from './rest-operation.ts';
import { namespaceOf, checkName } from '../metadata/check-name.ts';

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

/** The function that the path of a request names. */
export const functionIdent = (request: RestRequest): TableIdent => ({
  namespace: namespaceOf(request.params['namespace'] ?? ''),
  name: checkName(request.params['function'] ?? '', 'function'),
});
