import { scopesOf } from '#shared/authorization/token-claims.ts';
import { SkeinError } from '#shared/error.ts';
import { principalId } from '#shared/id.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import {
  deleteAccessTokens,
  findAccessToken,
  insertAccessToken,
  listAccessTokens,
  type AccessTokenRow,
  type Makers,
} from '../store/postgres/credential-store.ts';
import { findByName, type PrincipalRecord } from '../store/postgres/principal-record-store.ts';
import { giverOfIdentities, giverOfKeys } from '../store/postgres/lesser-credentials.ts';
import { maySignIn, raiseSessionEpoch } from '../store/postgres/principal-store.ts';
import type { Database, Tx } from '../store/postgres/tables.ts';
import { ACCESS_TOKEN_PREFIX, newSecret, sha256 } from '../token/secret.ts';
import { requireNoToken } from './accounts.ts';
import {
  changing,
  done,
  listAnswer,
  partyOf,
  reading,
  timeText,
  type Call,
  type Caller,
  type Changing,
  type ListColumns,
} from './change.ts';
import { requireProvider } from './providers.ts';
import { checkPrincipalName, scopesNamed } from './check-names.ts';

const TOKENS_MAX = 50;
const DAYS = 90;
const DAYS_MAX = 365;
const DAY_MS = 86_400_000;

type Actor = { readonly tenantId: string; readonly actor: Caller };

/** The owner that a statement names, or the caller. @throws PRINCIPAL_NOT_FOUND, FORBIDDEN */
async function ownerOf(
  db: Database,
  { tenantId, actor }: Actor,
  name: string | null,
  action: 'token.show' | 'token.change',
): Promise<PrincipalRecord> {
  const owner = name === null ? actor : await findByName(db, tenantId, name);
  requirePrincipalAction(actor, action, owner);
  if (owner !== undefined) return owner;
  throw new SkeinError('PRINCIPAL_NOT_FOUND', `user or service account ${name} does not exist`);
}

/**
 * Creates a token that its owner signs in with, and shows it this once. @param first what the transaction requires of the caller
 * @throws FORBIDDEN for scopes that the caller's token lacks; INVALID_REQUEST, ALREADY_EXISTS, LIMIT_REACHED, INVALID_STATE
 */
export async function createToken(
  call: Call,
  input: RequestOf<'create_token'>,
  first: (change: Changing) => Promise<void> = () => Promise.resolve(),
): Promise<PrincipalAnswer> {
  const { name, owner: ownerName, days = DAYS } = input;
  checkPrincipalName('a token', name);
  requireNoToken(call);
  if (days < 1 || days > DAYS_MAX) throw new SkeinError('INVALID_REQUEST', `TTL is 1 to ${DAYS_MAX} days`);
  const scim = SCIM_SCOPE.exec(input.scope?.trim() ?? '')?.[1];
  if (scim !== undefined) return createScimToken(call, { name, owner: ownerName, days }, scim);
  const mine = scopesOf(call.principal);
  const scopes = input.scope === undefined ? [...mine] : scopesNamed(input.scope);
  const beyond = scopes.find((scope) => !mine.has(scope));
  if (beyond !== undefined) throw new SkeinError('FORBIDDEN', `your own token lacks the scope ${beyond}`);
  if (scopes.length === 0) throw new SkeinError('INVALID_REQUEST', 'SCOPE names no scope');
  return changing(call, async (change) => {
    const { tx, tenant, actor } = change;
    await first(change);
    const owner = await ownerOf(tx, { tenantId: tenant.id, actor }, ownerName, 'token.change');
    if (!maySignIn(owner.status)) throw new SkeinError('INVALID_STATE', `the owner is ${owner.status}`);
    await requireRoom(tx, owner, name);
    return insertToken(call, change, { owner, name, days, scopes, providerId: null });
  });
}

type NewToken = {
  readonly owner: PrincipalRecord;
  readonly name: string;
  readonly days: number;
  readonly scopes: readonly string[];
  readonly providerId: string | null;
};

async function insertToken(
  call: Call,
  change: Changing,
  { owner, name, days, scopes, providerId }: NewToken,
): Promise<PrincipalAnswer> {
  const { tx, now } = change;
  const token = newSecret(ACCESS_TOKEN_PREFIX);
  const expiresAt = new Date(now.getTime() + days * DAY_MS);
  await insertAccessToken(tx, {
    principal: owner.id,
    name,
    sha256: sha256(token),
    scopes,
    providerId,
    ...(await makersOf(call, change)),
    createdAt: now,
    expiresAt,
  });
  await change.record({
    type: 'create_pat',
    target: partyOf(owner),
    details: { token: name, scope: scopes.join(' '), expires_at: expiresAt.toISOString() },
  });
  return listAnswer(CREATED, [{ name, token, expiresAt }]);
}

/** The scope of a token by which an identity provider sends users and groups; it stands alone. */
const SCIM_SCOPE = /^scim:(\S+)$/;

/** A token for SCIM of a provider: a tenant_admin makes it for himself, and it opens nothing else. @throws FORBIDDEN, PROVIDER_NOT_FOUND */
const createScimToken = (
  call: Call,
  { name, owner: ownerName, days }: { readonly name: string; readonly owner: string | null; readonly days: number },
  providerName: string,
): Promise<PrincipalAnswer> =>
  changing(call, async (change) => {
    const { tx, tenant, actor } = change;
    requirePrincipalAction(actor, 'role.grant');
    if (ownerName !== null) throw new SkeinError('INVALID_REQUEST', 'a token for SCIM is of the one who makes it');
    const provider = await requireProvider(tx, tenant.id, providerName);
    await requireRoom(tx, actor, name);
    const scopes = [`scim:${provider.name}`];
    return insertToken(call, change, { owner: actor, name, days, scopes, providerId: provider.id });
  });

/** @throws LIMIT_REACHED, ALREADY_EXISTS */
async function requireRoom(tx: Tx, owner: PrincipalRecord, name: string): Promise<void> {
  const tokens = await listAccessTokens(tx, owner.id);
  if (tokens.length >= TOKENS_MAX) {
    throw new SkeinError('LIMIT_REACHED', `a principal has at most ${TOKENS_MAX} personal access tokens`);
  }
  if ((await findAccessToken(tx, owner.id, name)) !== undefined) {
    throw new SkeinError('ALREADY_EXISTS', `personal access token ${name} exists already`);
  }
}

/**
 * The caller, and another who has given him the password or the key that he has signed in with, or has made the identity provider that has signed him
 * in: he may be the one who calls.
 */
async function makersOf({ principal }: Call, { tx, actor }: Changing): Promise<Makers> {
  const { id: createdBy, passwordSetBy } = actor;
  const { auth_method: by } = principal;
  const giver =
    by === 'password'
      ? passwordSetBy
      : by === 'keypair'
        ? await giverOfKeys(tx, createdBy)
        : by === 'sso'
          ? await giverOfIdentities(tx, createdBy)
          : null;
  return { createdBy, givenBy: giver === null ? null : principalId(giver) };
}

/** Revokes a token, and ends all access tokens of its owner. @throws TOKEN_NOT_FOUND */
export const dropToken = (
  call: Call,
  { name, owner: ownerName, ifExists }: RequestOf<'drop_token'>,
  also: (change: Changing) => Promise<void> = () => Promise.resolve(),
): Promise<PrincipalAnswer> =>
  changing(call, async (change) => {
    const { tx, tenant, actor } = change;
    const owner = await ownerOf(tx, { tenantId: tenant.id, actor }, ownerName, 'token.change');
    const token = await findAccessToken(tx, owner.id, name);
    if (token === undefined) {
      if (ifExists) return done('DROP PERSONAL ACCESS TOKEN');
      throw new SkeinError('TOKEN_NOT_FOUND', `personal access token ${name} does not exist`);
    }
    await deleteAccessTokens(tx, owner.id, token.id);
    await raiseSessionEpoch(tx, owner.id);
    await change.record({ type: 'drop_pat', target: partyOf(owner), details: { token: token.name } });
    await also(change);
    return done('DROP PERSONAL ACCESS TOKEN');
  });

export async function showTokens(call: Call, { owner: name }: RequestOf<'show_tokens'>): Promise<PrincipalAnswer> {
  const { db, tenant, actor } = await reading(call);
  const owner = await ownerOf(db, { tenantId: tenant.id, actor }, name, 'token.show');
  const columns: ListColumns<AccessTokenRow> = {
    name: ['VARCHAR', (token) => token.name],
    owner: ['VARCHAR', () => owner.username],
    scope: ['VARCHAR', (token) => token.scopes.join(' ')],
    ttl: [
      'INTEGER',
      ({ createdAt, expiresAt }) => String(Math.round((expiresAt.getTime() - createdAt.getTime()) / DAY_MS)),
    ],
    created_by: ['VARCHAR', (token) => token.maker],
    created_at: ['TIMESTAMP WITH TIME ZONE', (token) => timeText(token.createdAt)],
    expires_at: ['TIMESTAMP WITH TIME ZONE', (token) => timeText(token.expiresAt)],
  };
  return listAnswer(columns, await listAccessTokens(db, owner.id));
}

/** A token as it is shown once. */
const CREATED: ListColumns<{ readonly name: string; readonly token: string; readonly expiresAt: Date }> = {
  name: ['VARCHAR', ({ name }) => name],
  token: ['VARCHAR', ({ token }) => token],
  expires_at: ['TIMESTAMP WITH TIME ZONE', ({ expiresAt }) => timeText(expiresAt)],
};
