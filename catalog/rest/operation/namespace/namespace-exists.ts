import type { CatalogContext } from '../../../context.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';
import { loadNamespace } from './load-namespace.ts';

/** `HEAD /v1/{prefix}/namespaces/{namespace}`: 204, or 404 without a body. */
export async function namespaceExists(context: CatalogContext, request: RestRequest): Promise<Answer> {
  await loadNamespace(context, request);
  return NO_CONTENT;
}
