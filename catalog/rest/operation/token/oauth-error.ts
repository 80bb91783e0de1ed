import type { SkeinError } from '#shared/error.ts';
import type { Answer } from '../../rest-operation.ts';

/** RFC 6749, 5.2 (4.1.2.1 for the last two, RFC 7009, 2.2.1 for that of a token's type): the errors of the token endpoint, in its own shape. */
export type OAuthCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_token_type'
  | 'temporarily_unavailable'
  | 'server_error';

/** A refusal of the token endpoint. The message is for the client's log. */
export class OAuthError extends Error {
  readonly code: OAuthCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: OAuthCode,
    message: string,
    more: {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'OAuthError';
    this.code = code;
    this.status = more.status ?? 400;
    this.headers = more.headers ?? {};
  }
}

/** Returns a 401 with the scheme that the client tried, or could have tried. */
export const invalidClient = (message: string, scheme: 'Basic' | 'Bearer' = 'Basic'): OAuthError =>
  new OAuthError('invalid_client', message, {
    status: 401,
    headers: { 'www-authenticate': `${scheme} realm="skein"` },
  });

/** Headers that forbid caching of this endpoint's answers, errors included (RFC 6749, 5.1). */
export const NO_STORE = { 'cache-control': 'no-store', pragma: 'no-cache' } as const;

export const oauthAnswer = ({ code, message, status, headers }: OAuthError): Answer => ({
  status,
  body: { error: code, error_description: message.replaceAll(/[^\x20-\x7E]|["\\]/g, '?') },
  headers: { ...headers, ...NO_STORE },
});

/** Renders an error of the service in the shape of this endpoint. */
export function oauthErrorOf(error: SkeinError): Answer {
  const { http: status } = error.entry;
  if (status >= 500) {
    const code = error.entry.retryable ? 'temporarily_unavailable' : 'server_error';
    return oauthAnswer(new OAuthError(code, error.message, { status }));
  }
  return oauthAnswer(new OAuthError('invalid_request', error.message, { status: status === 413 ? 413 : 400 }));
}
