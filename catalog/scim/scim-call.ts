import { SkeinError } from '#shared/error.ts';
import { sha256 } from '../token/secret.ts';
import type { CatalogContext } from '../context.ts';
import type { Recording } from '../principal-statement/change.ts';
import { recordEvent } from '../store/postgres/audit-store.ts';
import { isUniqueViolation } from '../store/postgres/errors.ts';
import { findById, type PrincipalRecord } from '../store/postgres/principal-record-store.ts';
import { maySignIn } from '../store/postgres/principal-store.ts';
import { findProviderById, type ProviderRow } from '../store/postgres/provider-store.ts';
import { findScimToken } from '../store/postgres/scim-store.ts';
import type { Tx } from '../store/postgres/tables.ts';
import { lockPrincipalsOf } from '../store/postgres/tenant-store.ts';
import { transact } from '../store/postgres/transact.ts';
import { ScimError } from './scim-error.ts';

/** A request of an identity provider: by the token of a tenant_admin, and for its own users and groups alone. */
export type ScimCall = {
  readonly context: CatalogContext;
  readonly provider: ProviderRow;
  /** The owner of the token. */
  readonly actor: PrincipalRecord;
  /** Digest of the token. */
  readonly digest: Buffer;
  /** The address of `/scim/v2`. */
  readonly base: string;
};

const BEARER = /^Bearer +(skein_pat_[\w-]{1,180})\s*$/i;

/**
 * Finds the provider whose token this is. A token that is unknown, over, of another kind, or of an owner who is no tenant_admin any more is one
 * refusal, counted by its address. @throws ScimError 401, 429
 */
export async function scimCallOf(
  context: CatalogContext,
  {
    authorization,
    address,
    base,
  }: { readonly authorization: string | undefined; readonly address: string; readonly base: string },
): Promise<ScimCall> {
  const { passwords, store, clock, scimLimit } = context;
  const [, token = ''] = BEARER.exec(authorization ?? '') ?? [];
  const digest = sha256(token);
  const attempt = { tenant: '', user: digest.toString('base64'), address, isNameless: true };
  try {
    passwords.requireAllowed(attempt);
  } catch (cause) {
    throw new ScimError(429, 'too many requests have failed', { headers: { 'retry-after': '60' }, cause });
  }
  const found = token === '' ? undefined : await findScimToken(store.db, digest, new Date(clock.nowMs()));
  const [actor, provider] =
    found === undefined
      ? []
      : await Promise.all([findById(store.db, found.owner), findProviderById(store.db, found.providerId)]);
  if (
    found === undefined ||
    provider === undefined ||
    actor === undefined ||
    !actor.isAdmin ||
    !maySignIn(actor.status)
  ) {
    passwords.failed(attempt);
    throw new ScimError(401, 'the token is not valid', { headers: { 'www-authenticate': 'Bearer' } });
  }
  const seconds = scimLimit.take(provider.id);
  if (seconds > 0) {
    throw new ScimError(429, 'too many requests of this provider', { headers: { 'retry-after': String(seconds) } });
  }
  return { context, provider, actor, digest, base };
}

/** Runs a change in one transaction, one after the other with all changes to principals of the tenant. @throws ScimError */
export async function scimChange<T>(
  { context, provider, actor, digest }: ScimCall,
  work: (change: Recording & { readonly tx: Tx }) => Promise<T>,
): Promise<T> {
  const tenant = { id: provider.tenantId, name: provider.tenant };
  try {
    return await transact(context.store.db, async (tx) => {
      await lockPrincipalsOf(tx, tenant);
      const now = new Date(context.clock.nowMs());
      // The token may have been dropped, or its owner stopped, while the change waited.
      const owner = await findById(tx, actor.id);
      const isThere = (await findScimToken(tx, digest, now)) !== undefined;
      if (!isThere || owner === undefined || !owner.isAdmin || !maySignIn(owner.status))
        throw new ScimError(401, 'the token is not valid');
      return work({
        tx,
        now,
        record: (event) => recordEvent(tx, tenant, now, { ...event, actor: { id: actor.id, name: actor.username } }),
      });
    });
  } catch (error) {
    if (isUniqueViolation(error))
      throw new ScimError(409, 'another resource has this name or id', { type: 'uniqueness', cause: error });
    if (error instanceof SkeinError && error.code === 'INVALID_STATE')
      throw new ScimError(400, error.message, { type: 'mutability', cause: error });
    throw error;
  }
}

/** The entity tag of a version. */
export const tagOf = (version: string): string => `W/"${version}"`;

/** @throws ScimError 412 when the request is for another version */
export function requireTag(version: string, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (!tags.includes(tagOf(version)) && !tags.includes(`"${version}"`))
    throw new ScimError(412, 'the resource has changed meanwhile');
}

export const notFound = (): ScimError => new ScimError(404, 'there is no such resource');
