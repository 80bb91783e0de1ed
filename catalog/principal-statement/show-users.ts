import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import { activeKeypairs, type KeypairRow } from '../store/postgres/credential-store.ts';
import { groupsOf } from '../store/postgres/group-store.ts';
import { identitiesOf, type NamedIdentity } from '../store/postgres/identity-store.ts';
import {
  findByName,
  listPrincipals,
  type ListedPrincipals,
  type PrincipalRecord,
} from '../store/postgres/principal-record-store.ts';
import { PUBLIC_ROLE } from '../store/postgres/role-store.ts';
import type { Database } from '../store/postgres/tables.ts';
import { trustsOfAccounts, type NamedTrust } from '../store/postgres/trust-store.ts';
import { requireRole } from './roles.ts';
import { printCondition } from './trusts.ts';
import { listAnswer, reading, requireUser, timeText, type Call, type ListColumns } from './change.ts';

const STATUSES = ['ACTIVE', 'INVITED', 'SUSPENDED', 'DEACTIVATED', 'PROVISIONED', 'LOCKED'] as const;

/** LOCKED is derived: an active user who has shown too many wrong passwords. */
const statusOf = ({ status, lockedUntil }: PrincipalRecord, now: Date): string =>
  status === 'ACTIVE' && lockedUntil !== null && lockedUntil > now ? 'LOCKED' : status;

/** A user whose status is the one of now. */
type Seen = Omit<PrincipalRecord, 'status'> & { readonly status: string };

const LISTED: ListColumns<Seen> = {
  username: ['VARCHAR', (user) => user.username],
  status: ['VARCHAR', (user) => user.status],
  email: ['VARCHAR', (user) => user.email],
  display_name: ['VARCHAR', (user) => user.displayName],
  default_role: ['VARCHAR', (user) => user.defaultRole],
  last_login_at: ['TIMESTAMP WITH TIME ZONE', (user) => timeText(user.lastLoginAt)],
  created_at: ['TIMESTAMP WITH TIME ZONE', (user) => timeText(user.createdAt)],
};

/** A user with what identity providers know of him. */
type Described = Seen & { readonly identities: readonly NamedIdentity[]; readonly groups: readonly string[] };

/** Never a hash, a secret or a token (service specification, Principal record). */
const DESCRIBED: ListColumns<Described> = {
  username: ['VARCHAR', (user) => user.username],
  status: ['VARCHAR', (user) => user.status],
  email: ['VARCHAR', (user) => user.email],
  display_name: ['VARCHAR', (user) => user.displayName],
  default_role: ['VARCHAR', (user) => user.defaultRole],
  default_warehouse: ['VARCHAR', (user) => user.defaultWarehouse],
  roles: ['VARCHAR', (user) => user.roles.join(', ')],
  privileges: ['VARCHAR', (user) => [...user.privileges].toSorted().join(', ')],
  last_login_at: ['TIMESTAMP WITH TIME ZONE', (user) => timeText(user.lastLoginAt)],
  login_failures: ['INTEGER', (user) => String(user.loginFailures)],
  password_set_by: ['VARCHAR', (user) => user.passwordMaker],
  mfa: ['VARCHAR', (user) => (user.factors.length === 0 ? null : user.factors.join(', '))],
  must_change_password: ['BOOLEAN', (user) => String(user.mustChangePassword)],
  session_epoch: ['BIGINT', (user) => String(user.sessionEpoch)],
  identity_source: ['VARCHAR', (user) => user.identitySource],
  identity_provider: ['VARCHAR', ({ identities }) => listed(identities.map(({ provider }) => provider))],
  subject: ['VARCHAR', ({ identities }) => listed(identities.map(({ subject }) => subject))],
  groups: ['VARCHAR', ({ groups }) => listed(groups)],
  legal_hold: ['BOOLEAN', (user) => String(user.legalHold)],
  is_bootstrap_principal: ['BOOLEAN', (user) => String(user.isBootstrap)],
  comment: ['VARCHAR', (user) => user.comment],
  id: ['VARCHAR', (user) => user.id],
  created_at: ['TIMESTAMP WITH TIME ZONE', (user) => timeText(user.createdAt)],
  updated_at: ['TIMESTAMP WITH TIME ZONE', (user) => timeText(user.updatedAt)],
  deactivated_at: ['TIMESTAMP WITH TIME ZONE', (user) => timeText(user.deactivatedAt)],
};

const listed = (names: readonly string[]): string | null => (names.length === 0 ? null : names.join(', '));

const seen = (user: PrincipalRecord, now: Date): Seen => ({ ...user, status: statusOf(user, now) });

/** `SHOW USERS`: by name. @throws FORBIDDEN without MANAGE USERS */
export async function showUsers(call: Call, input: RequestOf<'show_users'>): Promise<PrincipalAnswer> {
  const { db, tenant, actor, now } = await reading(call);
  requirePrincipalAction(actor, 'user.show');
  const status = STATUSES.find((one) => one === foldKeyword(input.status ?? '')) ?? null;
  if (input.status !== null && status === null) {
    throw new SkeinError('INVALID_REQUEST', `a status is one of ${STATUSES.join(', ')}`);
  }
  const users = await listPrincipals(db, tenant.id, {
    ...pageOf(input),
    kind: 'USER',
    like: input.like,
    ...(await holdingOf(db, tenant.id, input)),
    search: input.search,
    status,
    now,
  });
  return listAnswer(
    LISTED,
    users.map((user) => seen(user, now)),
    nextOf(users, input.limit),
  );
}

const pageOf = ({
  after,
  limit,
}: Pick<ListedPrincipals, 'after' | 'limit'>): Pick<ListedPrincipals, 'after' | 'limit'> => ({ after, limit });

/** Everybody has the role `public`. @throws ROLE_NOT_FOUND */
async function holdingOf(
  db: Database,
  tenantId: string,
  { role, privilege }: Pick<RequestOf<'show_users'>, 'role' | 'privilege'>,
): Promise<Pick<ListedPrincipals, 'role' | 'privilege'>> {
  const name = role === undefined ? PUBLIC_ROLE : (await requireRole(db, tenantId, role)).name;
  return { role: name === PUBLIC_ROLE ? undefined : name, privilege };
}

const nextOf = (found: readonly PrincipalRecord[], limit: number): string | null =>
  found.length < limit ? null : (found.at(-1)?.username ?? null);

/** `DESCRIBE USER`: everybody himself. @throws FORBIDDEN, PRINCIPAL_NOT_FOUND */
export async function describeUser(call: Call, { name }: RequestOf<'describe_user'>): Promise<PrincipalAnswer> {
  const { db, tenant, actor, now } = await reading(call);
  const found = await findByName(db, tenant.id, name);
  requirePrincipalAction(actor, 'user.show', found?.kind === 'USER' ? found : undefined);
  const user = await requireUser(db, tenant.id, name);
  const [identities, groups] = await Promise.all([identitiesOf(db, user.id), groupsOf(db, user.id)]);
  return listAnswer(DESCRIBED, [{ ...seen(user, now), identities, groups: groups.map(({ group }) => group) }]);
}

/** `SHOW SERVICE ACCOUNTS`: by name, with their keys. @throws FORBIDDEN without MANAGE SERVICE ACCOUNTS */
export async function showAccounts(call: Call, input: RequestOf<'show_accounts'>): Promise<PrincipalAnswer> {
  const { db, tenant, actor, now } = await reading(call);
  requirePrincipalAction(actor, 'account.show');
  const accounts = await listPrincipals(db, tenant.id, {
    ...pageOf(input),
    kind: 'SERVICE',
    like: null,
    ...(await holdingOf(db, tenant.id, input)),
    search: input.search,
    status: null,
    now,
  });
  const keypairs = await activeKeypairs(
    db,
    accounts.map(({ id }) => id),
  );
  const trusts = await trustsOfAccounts(
    db,
    accounts.map(({ id }) => id),
  );
  const columns: ListColumns<PrincipalRecord> = {
    name: ['VARCHAR', (account) => account.username],
    id: ['VARCHAR', (account) => account.id],
    default_role: ['VARCHAR', (account) => account.defaultRole],
    roles: ['VARCHAR', (account) => account.roles.join(', ')],
    comment: ['VARCHAR', (account) => account.comment],
    keypairs: ['VARCHAR', ({ id }) => (keypairs.get(id) ?? []).map(printKeypair).join(', ')],
    trusts: [
      'VARCHAR',
      ({ id }) =>
        trusts
          .filter(({ account }) => account === id)
          .map(printTrust)
          .join(', '),
    ],
    created_at: ['TIMESTAMP WITH TIME ZONE', (account) => timeText(account.createdAt)],
  };
  return listAnswer(columns, accounts, nextOf(accounts, input.limit));
}

const printTrust = ({ provider, conditions }: NamedTrust): string =>
  `${provider} WHERE ${conditions.map(printCondition).join(' AND ')}`;

const printKeypair = ({ keyId, algorithm, maker }: KeypairRow): string =>
  `${keyId} (${algorithm}${maker === null ? '' : `, made by ${maker}`})`;
