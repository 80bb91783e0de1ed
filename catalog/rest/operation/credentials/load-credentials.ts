import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../../../context.ts';
import { delegate } from '../../../delegation/delegate.ts';
import { findPlace } from '../../../delegation/find-place.ts';
import { ok, type Answer, type RestRequest } from '../../rest-operation.ts';
import { tableTarget } from '../../request-names.ts';
import { credentialOf } from '../../table-access.ts';

/**
 * `GET | POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials`: a key for the files of a table, for as much as the token allows;
 * none for local files.
 */
export async function loadCredentials(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { catalog, ident } = tableTarget(request);
  const asked = { event: 'vend', principal: request.claims, method: 'read', key: '' } as const;
  const place = await findPlace(context, asked, { catalog, ident });
  const delegation = await delegate(context, { principal: request.claims, place }, ['vended-credentials']);
  if (delegation.kind === 'refused') throw new SkeinError('FORBIDDEN', delegation.reason);
  if (delegation.kind === 'unavailable') throw new SkeinError('NOT_SUPPORTED', delegation.reason);
  return {
    ...ok({ 'storage-credentials': delegation.kind === 'key' ? [credentialOf(delegation, place)] : [] }),
    headers: { 'cache-control': 'no-store' },
  };
}
