import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import { activeKeypairs } from '../store/postgres/credential-store.ts';
import {
  findByName,
  listPrincipals,
  type ListedPrincipals,
  type PrincipalRecord,
} from '../store/postgres/principal-record-store.ts';
import { reading, requireUser, timeText, type Call } from './change.ts';

const STATUSES = ['ACTIVE', 'INVITED', 'SUSPENDED', 'DEACTIVATED', 'PROVISIONED', 'LOCKED'] as const;

/** LOCKED is derived: an active user who has shown too many wrong passwords. */
const statusOf = ({ status, lockedUntil }: PrincipalRecord, now: Date): string =>
  status === 'ACTIVE' && lockedUntil !== null && lockedUntil > now ? 'LOCKED' : status;

type Columns = Readonly<Record<string, (user: PrincipalRecord, now: Date) => string | null>>;

const LISTED: Columns = {
  username: (user) => user.username,
  status: statusOf,
  email: (user) => user.email,
  display_name: (user) => user.displayName,
  default_role: (user) => user.defaultRole,
  last_login_at: (user) => timeText(user.lastLoginAt),
  created_at: (user) => timeText(user.createdAt),
};

/** Never a hash, a secret or a token (service specification, Principal record). */
const DESCRIBED: Columns = {
  username: (user) => user.username,
  status: statusOf,
  email: (user) => user.email,
  display_name: (user) => user.displayName,
  default_role: (user) => user.defaultRole,
  default_warehouse: (user) => user.defaultWarehouse,
  roles: (user) => user.roles.join(', '),
  privileges: (user) => [...user.privileges].toSorted().join(', '),
  last_login_at: (user) => timeText(user.lastLoginAt),
  login_failures: (user) => String(user.loginFailures),
  must_change_password: (user) => String(user.mustChangePassword),
  session_epoch: (user) => String(user.sessionEpoch),
  identity_source: (user) => user.identitySource,
  legal_hold: (user) => String(user.legalHold),
  is_bootstrap_principal: (user) => String(user.isBootstrap),
  comment: (user) => user.comment,
  id: (user) => user.id,
  created_at: (user) => timeText(user.createdAt),
  updated_at: (user) => timeText(user.updatedAt),
  deactivated_at: (user) => timeText(user.deactivatedAt),
};

const rowsOf = (columns: Columns, users: readonly PrincipalRecord[], now: Date): PrincipalAnswer['rows'] =>
  users.map((user) => Object.values(columns).map((of) => of(user, now)));

/** `SHOW USERS`: by name. @throws FORBIDDEN without MANAGE USERS */
export async function showUsers(call: Call, input: RequestOf<'show_users'>): Promise<PrincipalAnswer> {
  const { db, tenant, actor, now } = await reading(call);
  requirePrincipalAction(actor, 'user.show');
  const status = STATUSES.find((one) => one === foldKeyword(input.status ?? '')) ?? null;
  if (input.status !== null && status === null) {
    throw new SkeinError('INVALID_REQUEST', `a status is one of ${STATUSES.join(', ')}`);
  }
  const users = await listPrincipals(db, tenant.id, { ...pageOf(input), kind: 'USER', like: input.like, status, now });
  return { columns: Object.keys(LISTED), rows: rowsOf(LISTED, users, now), next: nextOf(users, input.limit) };
}

const pageOf = ({
  after,
  limit,
}: Pick<ListedPrincipals, 'after' | 'limit'>): Pick<ListedPrincipals, 'after' | 'limit'> => ({ after, limit });

const nextOf = (found: readonly PrincipalRecord[], limit: number): string | null =>
  found.length < limit ? null : (found.at(-1)?.username ?? null);

/** `DESCRIBE USER`: everybody himself. @throws FORBIDDEN, PRINCIPAL_NOT_FOUND */
export async function describeUser(call: Call, { name }: RequestOf<'describe_user'>): Promise<PrincipalAnswer> {
  const { db, tenant, actor, now } = await reading(call);
  const found = await findByName(db, tenant.id, name);
  requirePrincipalAction(actor, 'user.show', found?.kind === 'USER' ? found : undefined);
  const user = await requireUser(db, tenant.id, name);
  return { columns: Object.keys(DESCRIBED), rows: rowsOf(DESCRIBED, [user], now), next: null };
}

/** `SHOW SERVICE ACCOUNTS`: by name, with their keys. @throws FORBIDDEN without MANAGE SERVICE ACCOUNTS */
export async function showAccounts(call: Call, input: RequestOf<'show_accounts'>): Promise<PrincipalAnswer> {
  const { db, tenant, actor, now } = await reading(call);
  requirePrincipalAction(actor, 'account.show');
  const accounts = await listPrincipals(db, tenant.id, {
    ...pageOf(input),
    kind: 'SERVICE',
    like: null,
    status: null,
    now,
  });
  const keypairs = await activeKeypairs(
    db,
    accounts.map(({ id }) => id),
  );
  return {
    columns: ['name', 'id', 'default_role', 'roles', 'comment', 'keypairs', 'created_at'],
    rows: accounts.map((account) => [
      account.username,
      account.id,
      account.defaultRole,
      account.roles.join(', '),
      account.comment,
      (keypairs.get(account.id) ?? []).map(({ keyId, algorithm }) => `${keyId} (${algorithm})`).join(', '),
      timeText(account.createdAt),
    ]),
    next: nextOf(accounts, input.limit),
  };
}
