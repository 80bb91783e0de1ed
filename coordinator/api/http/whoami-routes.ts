import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../auth/authenticate.ts';
import { scopesOf } from '#shared/authorization/token-claims.ts';
import type { DocumentedApp } from './documented-app.ts';
import type { WhoamiEntry } from './api-types.ts';
import { WHOAMI } from './operations.ts';

type Parts = {
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

/** `GET /api/whoami`: the principal of the token, and what it may do now. */
export function whoamiRoutes(app: DocumentedApp, { onRequest, callerOf }: Parts): void {
  app.get('/api/whoami', { schema: WHOAMI, onRequest }, (request): WhoamiEntry => {
    const { claims, decisions } = callerOf(request);
    return {
      user_id: claims.sub,
      username: claims.preferred_username,
      tenant: claims.tenant,
      roles: [...claims.roles],
      scopes: [...scopesOf(claims)],
      privileges: [...(claims.privileges ?? [])],
      actions: [...decisions].filter(([, decision]) => decision.allowed).map(([action]) => action),
      auth_method: claims.auth_method,
      expires_at: new Date(claims.exp * 1_000).toISOString(),
    };
  });
}
