import type { Json } from '#shared/json.ts';
import type { CatalogContext } from '../../../context.ts';
import { ok, type Answer } from '../../rest-operation.ts';

/** `GET /.well-known/jwks.json`: the keys that verify our tokens. */
export const getJwks = (context: CatalogContext): Promise<Answer> =>
  Promise.resolve({
    ...ok(context.keys.jwks() as unknown as Json),
    headers: { 'cache-control': 'public, max-age=60' },
  });
