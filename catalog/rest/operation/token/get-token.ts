import type { Answer } from '../../operation.ts';

/**
 * `POST /v1/oauth/tokens`: no grant is served yet, which is what the answer says in the form of RFC 6749. Tokens come from the operator
 * (`skein token`).
 */
export const getToken = (): Promise<Answer> =>
  Promise.resolve({
    status: 400,
    body: { error: 'unsupported_grant_type', error_description: 'tokens are issued by the operator' },
    headers: { 'cache-control': 'no-store' },
  });
