import { SkeinError } from '#shared/error.ts';
import type { PrincipalId } from '#shared/id.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { CatalogContext } from '../context.ts';
import { isSubject, type OutsideClaims } from '../issuer/outside-token.ts';
import { checkEmail, checkPrincipalName, checkText } from '../principal-statement/check-names.ts';
import type { Recording } from '../principal-statement/change.ts';
import { USERS_MAX } from '../principal-statement/create-user.ts';
import { takeGroupsOfClaim } from '../principal-statement/group-grants.ts';
import { recordEvent } from '../store/postgres/audit-store.ts';
import { findIdentity, identitiesOf, insertIdentity } from '../store/postgres/identity-store.ts';
import { insertRecord } from '../store/postgres/principal-change-store.ts';
import { countPrincipals, findById, findByName, ownerOfEmail } from '../store/postgres/principal-record-store.ts';
import type { TokenPrincipal } from '../store/postgres/principal-store.ts';
import { findProviderById, type ProviderRow } from '../store/postgres/provider-store.ts';
import { findScimUserByExternalId } from '../store/postgres/scim-store.ts';
import { findTokenPrincipal } from '../store/postgres/shown-credentials.ts';
import type { Tx } from '../store/postgres/tables.ts';
import { lockPrincipalsOf } from '../store/postgres/tenant-store.ts';
import { transact } from '../store/postgres/transact.ts';
import { newSecret, sha256 } from '../token/secret.ts';

/** Names that are tried before one is made of the subject. */
const SUFFIXES_MAX = 20;
const NAME_LENGTH_MAX = 200;

/**
 * The user whom a provider knows by the subject of verified claims, with the groups that they say. One who is not known is made where the
 * provider may, and never found by a name or an email. His epoch is the one before any end of the provider that comes later.
 * @returns undefined when there is none, or the provider has ended meanwhile
 */
export function userOfIdentity(
  { store, clock }: CatalogContext,
  { id: providerId, tenantId, tenant: tenantName }: ProviderRow,
  claims: OutsideClaims,
): Promise<TokenPrincipal | undefined> {
  const tenant = { id: tenantId, name: tenantName };
  return transact(store.db, async (tx) => {
    await lockPrincipalsOf(tx, tenant);
    // It may have been dropped, disabled or changed while the person was there.
    const provider = await findProviderById(tx, providerId);
    if (provider?.enabled !== true) return undefined;
    const now = new Date(clock.nowMs());
    const record: Recording['record'] = (event) => recordEvent(tx, tenant, now, { ...event, actor: null });
    const making = { tx, now, record };
    const known = await findIdentity(tx, provider.id, claims.sub);
    const sent = known ?? (await linkSent(making, provider, claims));
    const id = sent ?? (provider.provision === 'USERS' ? await makeUser(making, provider, claims) : undefined);
    if (id === undefined) return undefined;
    await takeGroupsOfClaim(making, provider, id, claims[provider.groupsClaim]);
    return findTokenPrincipal(tx, id);
  });
}

/** Issuers whose `oid` is the id that they send by SCIM as externalId: their `sub` is another one for each application. */
const OID_ISSUER = /^https:\/\/(?:login\.microsoftonline\.(?:com|us)|sts\.windows\.net)\//;

/** The id that a provider has by SCIM for the person of a token. */
export function externalIdOf({ issuer }: Pick<ProviderRow, 'issuer'>, claims: OutsideClaims): string {
  const oid = OID_ISSUER.test(issuer) ? claims['oid'] : undefined;
  return typeof oid === 'string' && isSubject(oid) ? oid : claims.sub;
}

/** Links the user whom the provider has sent by SCIM with the id that the token has. */
async function linkSent(
  { tx, now, record }: Recording,
  provider: ProviderRow,
  claims: OutsideClaims,
): Promise<PrincipalId | undefined> {
  const externalId = externalIdOf(provider, claims);
  const sent = await findScimUserByExternalId(tx, provider.id, externalId);
  if (
    sent === undefined ||
    // A user of SQL links himself.
    (await findById(tx, sent.principal))?.identitySource !== 'EXTERNAL' ||
    (await identitiesOf(tx, sent.principal)).some(({ providerId }) => providerId === provider.id)
  ) {
    return undefined;
  }
  const identity = { providerId: provider.id, subject: claims.sub, externalId };
  await insertIdentity(tx, { ...identity, principal: sent.principal, givenBy: null, now });
  await record({
    type: 'link_identity',
    target: { id: sent.principal, name: sent.userName },
    details: { provider: provider.name },
  });
  return sent.principal;
}

async function makeUser(
  making: Recording,
  provider: ProviderRow,
  claims: OutsideClaims,
): Promise<PrincipalId | undefined> {
  const id = await makeExternalUser(making, provider, {
    userName: claims[provider.usernameClaim],
    email: claims[provider.emailClaim],
    isVerified: claims['email_verified'] === true,
    displayName: shownText(claims['name']),
    seed: claims.sub,
  });
  if (id !== undefined) {
    const identity = { providerId: provider.id, subject: claims.sub, externalId: externalIdOf(provider, claims) };
    await insertIdentity(making.tx, { ...identity, principal: id, givenBy: null, now: making.now });
  }
  return id;
}

/** Somebody as a provider describes him. */
type External = {
  readonly userName: unknown;
  readonly email: unknown;
  readonly isVerified: boolean;
  readonly displayName: string | null;
  /** The provider's own id of him, of which a name is made when no other is left. */
  readonly seed: string;
};

/** Makes a user of a provider. @returns undefined when the organisation has as many as it may have */
export async function makeExternalUser(
  { tx, now, record }: Recording,
  provider: ProviderRow,
  external: External,
): Promise<PrincipalId | undefined> {
  if ((await countPrincipals(tx, provider.tenantId, 'USER')) >= USERS_MAX) return undefined;
  const name = await freeName(tx, provider, external);
  const id = await insertRecord(tx, {
    tenantId: provider.tenantId,
    name,
    comment: null,
    now,
    user: {
      passwordHash: null,
      passwordSetBy: null,
      email: await believedEmail(tx, provider, external),
      displayName: external.displayName,
      defaultWarehouse: null,
      mustChangePassword: false,
      isExternal: true,
    },
  });
  const details = { status: 'PROVISIONED', provider: provider.name };
  await record({ type: 'create_user', target: { id, name }, details });
  return id;
}

/** The name that the provider says, with a number behind it when somebody has it already. */
async function freeName(
  tx: Tx,
  { tenantId, name: provider }: ProviderRow,
  { userName, seed }: Pick<External, 'userName' | 'seed'>,
): Promise<string> {
  const plain = typeof userName === 'string' ? userName.normalize('NFKC').trim().slice(0, NAME_LENGTH_MAX) : '';
  const digest = sha256(seed).toString('hex');
  const names = isName(plain)
    ? [plain, ...Array.from({ length: SUFFIXES_MAX }, (_none, i) => `${plain}-${i + 2}`)]
    : [];
  for (const name of [...names, `${provider}-${digest.slice(0, 12)}`]) {
    if ((await findByName(tx, tenantId, name)) === undefined) return name;
  }
  return `${provider}-${sha256(`${provider} ${seed} ${newSecret('')}`)
    .toString('hex')
    .slice(0, 40)}`;
}

function isName(name: string): boolean {
  return isAccepted(() => checkPrincipalName('a user', name));
}

function isAccepted(check: () => void): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof SkeinError) return false;
    throw error;
  }
}

/**
 * An email counts when the provider has verified it, in a domain that is the organisation's, and nobody has it. @param of the user whose it may
 * be already
 */
export async function believedEmail(
  tx: Tx,
  { tenantId, domains }: ProviderRow,
  { email, isVerified, of }: Pick<External, 'email' | 'isVerified'> & { readonly of?: PrincipalId },
): Promise<string | null> {
  if (typeof email !== 'string' || !isVerified) return null;
  const domain = foldIdentifier(email.slice(email.lastIndexOf('@') + 1));
  if (!domains.includes(domain) || !isAccepted(() => checkEmail(email))) return null;
  const owner = await ownerOfEmail(tx, tenantId, email);
  return owner === undefined || owner === of ? email : null;
}

/** A text for people that may be kept. */
export const shownText = (claim: unknown): string | null =>
  typeof claim === 'string' && claim !== '' && isAccepted(() => checkText('name', claim)) ? claim : null;
