import { SkeinError } from '#shared/error.ts';
import type { PrincipalId } from '#shared/id.ts';
import type { CatalogContext } from '../context.ts';
import type { OutsideClaims } from '../issuer/outside-token.ts';
import { checkEmail, checkPrincipalName, checkText } from '../principal-statement/check-names.ts';
import { USERS_MAX } from '../principal-statement/create-user.ts';
import { takeGroupsOfClaim } from '../principal-statement/group-grants.ts';
import { recordEvent, type AuditEvent } from '../store/postgres/audit-store.ts';
import { findIdentity, insertIdentity } from '../store/postgres/identity-store.ts';
import { insertRecord } from '../store/postgres/principal-change-store.ts';
import { countPrincipals, findByName, isEmailTaken } from '../store/postgres/principal-record-store.ts';
import type { ProviderRow } from '../store/postgres/provider-store.ts';
import type { Tx } from '../store/postgres/tables.ts';
import { lockPrincipalsOf } from '../store/postgres/tenant-store.ts';
import { transact } from '../store/postgres/transact.ts';
import { sha256 } from '../token/secret.ts';

/** Names that are tried before one is made of the subject. */
const SUFFIXES_MAX = 20;
const NAME_LENGTH_MAX = 200;

type Making = {
  readonly tx: Tx;
  readonly now: Date;
  readonly record: (event: Omit<AuditEvent, 'actor'>) => Promise<void>;
};

/**
 * The user whom a provider knows by the subject of verified claims, with the groups that they say. One who is not known is made where the
 * provider may, and never found by a name or an email. @returns undefined when there is none
 */
export function userOfIdentity(
  { store, clock }: CatalogContext,
  provider: ProviderRow,
  claims: OutsideClaims,
): Promise<PrincipalId | undefined> {
  const tenant = { id: provider.tenantId, name: provider.tenant };
  return transact(store.db, async (tx) => {
    await lockPrincipalsOf(tx, tenant);
    const now = new Date(clock.nowMs());
    const record: Making['record'] = (event) => recordEvent(tx, tenant, now, { ...event, actor: null });
    const making = { tx, now, record };
    const known = await findIdentity(tx, provider.id, claims.sub);
    const id = known ?? (provider.provision === 'USERS' ? await makeUser(making, provider, claims) : undefined);
    if (id !== undefined) await takeGroupsOfClaim(making, provider, id, claims[provider.groupsClaim]);
    return id;
  });
}

async function makeUser(
  making: Making,
  provider: ProviderRow,
  claims: OutsideClaims,
): Promise<PrincipalId | undefined> {
  const { tx, now, record } = making;
  if ((await countPrincipals(tx, provider.tenantId, 'USER')) >= USERS_MAX) return undefined;
  const name = await freeName(tx, provider, claims);
  const id = await insertRecord(tx, {
    tenantId: provider.tenantId,
    name,
    comment: null,
    now,
    user: {
      passwordHash: null,
      passwordSetBy: null,
      email: await believedEmail(tx, provider, claims),
      displayName: textOf(claims['name']),
      defaultWarehouse: null,
      mustChangePassword: false,
      isExternal: true,
    },
  });
  await insertIdentity(tx, { providerId: provider.id, subject: claims.sub, principal: id, now });
  const details = { status: 'PROVISIONED', provider: provider.name };
  await record({ type: 'create_user', target: { id, name }, details });
  return id;
}

/** The name that the token has, with a number behind it when somebody has it already. */
async function freeName(
  tx: Tx,
  { tenantId, usernameClaim, name: provider }: ProviderRow,
  claims: OutsideClaims,
): Promise<string> {
  const shown = claims[usernameClaim];
  const plain = typeof shown === 'string' ? shown.normalize('NFKC').trim().slice(0, NAME_LENGTH_MAX) : '';
  const digest = sha256(claims.sub).toString('hex').slice(0, 12);
  const names = isName(plain)
    ? [plain, ...Array.from({ length: SUFFIXES_MAX }, (_none, i) => `${plain}-${i + 2}`)]
    : [];
  for (const name of [...names, `${provider}-${digest}`]) {
    if ((await findByName(tx, tenantId, name)) === undefined) return name;
  }
  return `${provider}-${sha256(`${provider} ${claims.sub}`).toString('hex').slice(0, 40)}`;
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

/** An email counts when the provider has verified it, in a domain that is the organisation's, and nobody has it. */
async function believedEmail(
  tx: Tx,
  { tenantId, emailClaim, domains }: ProviderRow,
  claims: OutsideClaims,
): Promise<string | null> {
  const email = claims[emailClaim];
  if (typeof email !== 'string' || claims['email_verified'] !== true) return null;
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  if (!domains.includes(domain) || !isAccepted(() => checkEmail(email))) return null;
  return (await isEmailTaken(tx, tenantId, email)) ? null : email;
}

const textOf = (claim: unknown): string | null =>
  typeof claim === 'string' && claim !== '' && isAccepted(() => checkText('name', claim)) ? claim : null;
