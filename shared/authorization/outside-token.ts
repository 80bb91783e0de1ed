import { decodeJwt } from 'jose';
import { TOKEN_ISSUER } from './token-claims.ts';

/** The form of a signed token: a JWT, whose first characters are always the same. */
const TOKEN = /^ey[\w-]+\.[\w-]+\.[\w-]+$/;
/** An identity provider's tokens with many groups are long; longer ones are none. */
const LENGTH_MAX = 16_384;
const BEARER = /^Bearer +(\S+)\s*$/i;

/** Whether a text is a token that somebody else than we has issued, by what it says of itself. */
export function isOutsideToken(text: string): boolean {
  if (text.length > LENGTH_MAX || !TOKEN.test(text)) return false;
  try {
    const { iss } = decodeJwt(text);
    return typeof iss === 'string' && iss !== '' && iss !== TOKEN_ISSUER;
  } catch {
    return false;
  }
}

/** Such a token as a bearer; undefined: it is none. */
export function outsideBearer(authorization: string | undefined): string | undefined {
  const shown = BEARER.exec(authorization ?? '')?.[1];
  return shown !== undefined && isOutsideToken(shown) ? shown : undefined;
}
