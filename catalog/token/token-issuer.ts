import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Clock } from '#shared/clock.ts';
import { tenantId, type PrincipalId } from '#shared/id.ts';
import { TOKEN_ALGORITHM, TOKEN_AUDIENCE, TOKEN_ISSUER, type TokenClaims } from '#shared/authorization/token-claims.ts';
import type { Privilege } from '#shared/principal/privilege.ts';
import type { SigningKeys } from './signing-keys.ts';

/** The principal that a token is for, and how it signed in. */
export type TokenSubject = {
  readonly principal: PrincipalId;
  readonly username: string;
  readonly roles: readonly string[];
  readonly sessionEpoch: number;
  /** Name of the tenant. */
  readonly tenant: string;
  readonly scopes: readonly string[];
  readonly mustChangePassword: boolean;
  readonly authMethod: TokenClaims['auth_method'];
  /** When the principal signed in; absent: now. */
  readonly authenticatedAtMs?: number;
  /** The sign-in of a person; absent for machines. */
  readonly sid?: string;
  readonly amr?: readonly string[];
  readonly privileges?: readonly Privilege[];
};

export type IssuedToken = { readonly token: string; readonly expiresAtMs: number };

/** Signs access tokens. */
export class TokenIssuer {
  readonly #keys: SigningKeys;
  readonly #clock: Clock;

  constructor(keys: SigningKeys, clock: Clock) {
    this.#keys = keys;
    this.#clock = clock;
  }

  /** Signs a token, issued at `nowMs`. The caller has checked the subject, and that `ttlMs` is within its limit. */
  async issue(subject: TokenSubject, ttlMs: number, nowMs = this.#clock.nowMs()): Promise<IssuedToken> {
    const { kid, privateKey } = this.#keys.current();
    const iat = Math.floor(nowMs / 1000);
    const exp = Math.floor((nowMs + ttlMs) / 1000);
    const claims: TokenClaims = {
      iss: TOKEN_ISSUER,
      aud: TOKEN_AUDIENCE,
      sub: subject.principal,
      tenant: tenantId(subject.tenant),
      preferred_username: subject.username,
      roles: subject.roles,
      scope: subject.scopes.join(' '),
      sess_epoch: subject.sessionEpoch,
      auth_method: subject.authMethod,
      jti: randomUUID(),
      iat,
      exp,
      ...(subject.mustChangePassword ? { must_change_password: true } : {}),
      ...(subject.authenticatedAtMs === undefined ? {} : { auth_time: Math.floor(subject.authenticatedAtMs / 1000) }),
      ...(subject.sid === undefined ? {} : { sid: subject.sid }),
      ...(subject.amr === undefined ? {} : { amr: subject.amr }),
      ...(subject.privileges === undefined || subject.privileges.length === 0
        ? {}
        : { privileges: subject.privileges }),
    };
    const token = await new SignJWT({ ...claims, roles: [...claims.roles] })
      .setProtectedHeader({ alg: TOKEN_ALGORITHM, typ: 'JWT', kid })
      .sign(privateKey);
    return { token, expiresAtMs: exp * 1000 };
  }
}
