import { sql, type RawBuilder } from 'kysely';
import { PRINCIPAL_SCOPES, SCOPES } from '#shared/authorization/token-claims.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { isUuid, principalId, type PrincipalId } from '#shared/id.ts';
import type { KeyAlgorithm } from '#shared/principal/key-algorithm.ts';
import { factorsOf } from './factor-store.ts';
import { clientScopes, type TokenPrincipal } from './principal-store.ts';
import { privilegesOf } from './role-store.ts';
import type { Database, Tx } from './tables.ts';

/** Credentials that somebody shows to sign in: passwords, personal access tokens, signed assertions. */

/** The scopes of the roles of a principal `p`, those of `public` too, and those that any privilege gives. */
const roleScopes = (): RawBuilder<readonly string[]> => sql<readonly string[]>`(
  select coalesce(array_agg(distinct s.scope), '{}') from (
    select unnest(r.scopes) from catalog.role r
    where r.tenant_id = p.tenant_id and (r.name = 'public' or r.name = any (p.roles))
    union select unnest(${PRINCIPAL_SCOPES}::text[])
    where exists (select from catalog.privilege_grant g where g.principal_id = p.id)) as s (scope))`;

const principals = (db: Database) =>
  db
    .selectFrom('principal as p')
    .innerJoin('tenant as t', 't.id', 'p.tenant_id')
    .leftJoin('oauth_client as c', 'c.principal_id', 'p.id')
    .select([
      'p.id',
      'p.username',
      'p.status',
      'p.roles',
      'p.session_epoch',
      'p.kind',
      'p.must_change_password',
      'p.is_bootstrap_principal',
      't.name as tenant',
      't.mfa_required',
      'c.scopes',
    ])
    .select([roleScopes().as('role_scopes'), privilegesOf().as('privileges'), factorsOf().as('factors')]);
type Row = Awaited<ReturnType<ReturnType<typeof principals>['executeTakeFirstOrThrow']>>;

/** The tokens of an OAuth client may have its own scopes, whatever the roles of its account, but for those about others. */
const principalOf = (row: Row): TokenPrincipal => ({
  ...byRoles(row),
  scopes: row.scopes === null ? inOrder(row.role_scopes) : clientScopes(row.scopes, row),
});

/** Tokens that an account gets by a key or by a personal access token may have the scopes of its roles, whatever its OAuth client has. */
const byRoles = (row: Row): TokenPrincipal => ({
  id: principalId(row.id),
  username: row.username,
  status: row.status,
  roles: row.roles,
  sessionEpoch: row.session_epoch,
  tenant: row.tenant,
  mustChangePassword: row.must_change_password,
  privileges: row.privileges,
  factors: row.factors,
  mfaRequired: row.mfa_required,
  isBootstrap: row.is_bootstrap_principal,
  scopes: inOrder(row.role_scopes),
});

const inOrder = (scopes: readonly string[]): readonly string[] =>
  Object.keys(SCOPES).filter((scope) => scopes.includes(scope));

/** Finds a principal by id; undefined when there is none. */
export async function findTokenPrincipal(
  db: Database,
  id: PrincipalId,
  scopesOf: 'client' | 'roles' = 'client',
): Promise<TokenPrincipal | undefined> {
  const row = await principals(db).where('p.id', '=', id).executeTakeFirst();
  if (row === undefined) return undefined;
  return scopesOf === 'roles' ? byRoles(row) : principalOf(row);
}

/** A principal that signs in by its name, and its password's PHC string of Argon2id; null = it has no password. */
type PasswordHolder = { readonly principal: TokenPrincipal; readonly passwordHash: string | null };

/**
 * Finds a principal of the tenant by name, in one query whether it is there or not: exactly, else without case, else by email if that is
 * asked for.
 * @param tenant undefined = the first one that was made
 */
export async function findPasswordHolder(
  db: Database,
  tenant: string | undefined,
  username: string,
  names: 'name' | 'name or email' = 'name',
): Promise<PasswordHolder | undefined> {
  const folded = foldIdentifier(username);
  const row = await principals(db)
    .select('p.password_hash')
    .where((eb) => {
      const isName = eb.or([eb('p.username', '=', username), eb('p.has_double', '=', false)]);
      const byName = eb.and([eb('p.username_folded', '=', folded), isName]);
      return names === 'name' ? byName : eb.or([byName, eb('p.email_folded', '=', folded)]);
    })
    .where((eb) =>
      tenant === undefined
        ? eb('t.id', '=', eb.selectFrom('tenant').select('id').orderBy('created_at').orderBy('id').limit(1))
        : eb('t.name', '=', tenant),
    )
    .orderBy(sql`p.username = ${username}`, 'desc')
    .orderBy(sql`p.username_folded = ${folded}`, 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : { principal: principalOf(row), passwordHash: row.password_hash };
}

/** A personal access token that is not over, and its owner. */
export type TokenHolder = {
  readonly principal: TokenPrincipal;
  readonly scopes: readonly string[];
  readonly expiresAt: Date;
};

export async function findTokenHolder(db: Database, sha256: Buffer, now: Date): Promise<TokenHolder | undefined> {
  const row = await principals(db)
    .innerJoin('access_token as a', 'a.principal_id', 'p.id')
    .select(['a.scopes as token_scopes', 'a.expires_at'])
    .where('a.sha256', '=', sha256)
    // Those for SCIM open nothing else.
    .where('a.provider_id', 'is', null)
    .where('a.expires_at', '>', now)
    .executeTakeFirst();
  return row === undefined
    ? undefined
    : { principal: byRoles(row), scopes: row.token_scopes, expiresAt: row.expires_at };
}

/** A service account with one of its keys that are not revoked. */
export type KeyHolder = {
  /** Its tokens may have the scopes of its roles that the maker of the key had. */
  readonly principal: TokenPrincipal;
  /** PEM. */
  readonly publicKey: string;
  readonly algorithm: KeyAlgorithm;
};

/** @param issuer `<tenant>/<name>`, or the id of the account */
export async function findKeyHolder(db: Database, issuer: string, keyId: string): Promise<KeyHolder | undefined> {
  const slash = issuer.indexOf('/');
  if (slash === -1 && !isUuid(issuer)) return undefined;
  const [tenant, name] = [issuer.slice(0, slash), issuer.slice(slash + 1)];
  const row = await principals(db)
    .innerJoin('keypair as k', 'k.principal_id', 'p.id')
    .select(['k.public_key', 'k.algorithm', 'k.scopes as key_scopes'])
    .where('p.kind', '=', 'SERVICE')
    .where('k.key_id', '=', keyId)
    .where('k.revoked_at', 'is', null)
    .where((eb) =>
      slash === -1
        ? eb('p.id', '=', issuer)
        : eb.and([
            eb('t.name', '=', tenant),
            eb('p.username_folded', '=', foldIdentifier(name)),
            eb.or([eb('p.username', '=', name), eb('p.has_double', '=', false)]),
          ]),
    )
    .orderBy(sql`p.username = ${name}`, 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const principal = byRoles(row);
  const scopes = principal.scopes.filter((scope) => row.key_scopes?.includes(scope) ?? true);
  return { principal: { ...principal, scopes }, publicKey: row.public_key, algorithm: row.algorithm };
}

/** Takes the only use of an assertion. @returns false when it was used before */
export async function takeAssertion(
  tx: Tx,
  principal: PrincipalId,
  { sha256, expiresAt }: { readonly sha256: Buffer; readonly expiresAt: Date },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('used_assertion')
    .values({ principal_id: principal, jti_sha256: sha256, expires_at: expiresAt })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Forgets assertions that are over, which nobody takes any more. */
export async function forgetAssertions(tx: Tx, before: Date): Promise<void> {
  await tx.deleteFrom('used_assertion').where('expires_at', '<', before).execute();
}
