import { sql } from 'kysely';
import { principalId, type PrincipalId } from '#shared/id.ts';
import type { Privilege } from '#shared/principal/privilege.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { factorsOf, type FactorKind } from './factor-store.ts';
import { TENANT_ADMIN } from './principal-store.ts';
import type { Database, PrincipalStatus, Tx } from './tables.ts';
import { wholePattern } from './whole-pattern.ts';

/** Users and service accounts, with all that statements about them read. */

export type PrincipalRecord = {
  readonly id: PrincipalId;
  readonly kind: 'USER' | 'SERVICE';
  readonly username: string;
  readonly status: PrincipalStatus;
  readonly roles: readonly string[];
  readonly privileges: ReadonlySet<Privilege>;
  readonly isAdmin: boolean;
  readonly email: string | null;
  readonly displayName: string | null;
  readonly defaultRole: string | null;
  readonly defaultWarehouse: string | null;
  readonly mustChangePassword: boolean;
  readonly comment: string | null;
  readonly identitySource: string;
  readonly sessionEpoch: number;
  readonly legalHold: boolean;
  /** A tenant_admin has set it. */
  readonly legalHoldByAdmin: boolean;
  /** Suspended by an identity provider, which may let him back; false: by an administrator, or not suspended. */
  readonly suspendedByProvider: boolean;
  readonly isBootstrap: boolean;
  readonly passwordHash: string | null;
  /** The giver of the password; null: the operator, or the principal itself. */
  readonly passwordSetBy: PrincipalId | null;
  /** His name; of an invited user that of who has invited him. */
  readonly passwordMaker: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly deactivatedAt: Date | null;
  readonly loginFailures: number;
  readonly lockedUntil: Date | null;
  readonly lastLoginAt: Date | null;
  readonly factors: readonly FactorKind[];
};

/** Principals that are not archived. */
const records = (db: Database) =>
  db
    .selectFrom('principal as p')
    .leftJoin('principal_sign_in as s', 's.principal_id', 'p.id')
    .select([
      'p.id',
      'p.kind',
      'p.username',
      'p.status',
      'p.roles',
      'p.email',
      'p.display_name',
      'p.default_role',
      'p.default_warehouse',
      'p.must_change_password',
      'p.comment',
      'p.identity_source',
      'p.session_epoch',
      'p.legal_hold',
      'p.legal_hold_by_admin',
      'p.suspended_by_provider',
      'p.is_bootstrap_principal',
      'p.password_hash',
      'p.password_set_by',
      'p.created_at',
      'p.updated_at',
      'p.deactivated_at',
      's.login_failures',
      's.locked_until',
      's.last_login_at',
      sql<
        readonly Privilege[]
      >`array(select g.privilege from catalog.privilege_grant g where g.principal_id = p.id)`.as('privileges'),
      sql<string | null>`(select m.username from catalog.principal m where m.id = coalesce(p.password_set_by,
        (select i.created_by from catalog.invitation i where i.principal_id = p.id and i.redeemed_at is null limit 1)))`.as(
        'password_maker',
      ),
      factorsOf().as('factors'),
    ])
    .where('p.archived_at', 'is', null);
type Row = Awaited<ReturnType<ReturnType<typeof records>['executeTakeFirstOrThrow']>>;

/** Finds one by its name: exactly first, then without case. */
export async function findByName(db: Database, tenantId: string, name: string): Promise<PrincipalRecord | undefined> {
  if (name.includes('\0')) return undefined;
  const row = await records(db)
    .where('p.tenant_id', '=', tenantId)
    .where('p.username_folded', '=', foldIdentifier(name))
    .orderBy(sql`p.username = ${name}`, 'desc')
    .orderBy('p.has_double')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
}

export async function findById(db: Database, id: PrincipalId): Promise<PrincipalRecord | undefined> {
  const row = await records(db).where('p.id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
}

export type ListedPrincipals = {
  readonly kind: 'USER' | 'SERVICE';
  /** SQL pattern of names; null = all. */
  readonly like: string | null;
  /** A part of a name, an address or a display name, in any case; absent = all. */
  readonly search?: string | undefined;
  /** A role that was granted to them; absent = all. */
  readonly role?: string | undefined;
  /** A privilege that was granted to them; absent = all. */
  readonly privilege?: Privilege | undefined;
  readonly status: PrincipalStatus | 'LOCKED' | null;
  readonly after: string | null;
  readonly limit: number;
  readonly now: Date;
};

/**
 * A search looks at every name of the tenant. The stored columns have the letters A to Z in lower case, so that a text of such letters
 * is found there, and no name is folded again.
 */
const NOT_ASCII = /[^\x20-\x7e]/;

/** A page of the tenant's principals, by name. */
export async function listPrincipals(
  db: Database,
  tenantId: string,
  { kind, like, search, role, privilege, status, after, limit, now }: ListedPrincipals,
): Promise<readonly PrincipalRecord[]> {
  let query = records(db).where('p.tenant_id', '=', tenantId).where('p.kind', '=', kind);
  if (like !== null) query = query.where('p.username', 'like', wholePattern(like));
  if (search !== undefined && search !== '') {
    const part = sql<string>`lower(${search})`;
    const [name, email] = NOT_ASCII.test(search)
      ? [sql`lower(p.username)`, sql`lower(p.email)`]
      : [sql.ref('p.username_folded'), sql.ref('p.email_folded')];
    query = query.where(
      sql<boolean>`(position(${part} in ${name}) > 0 or position(${part} in ${email}) > 0
        or position(${part} in lower(p.display_name)) > 0)`,
    );
  }
  if (role !== undefined) query = query.where(sql<boolean>`p.roles @> ${sql.val([role])}::text[]`);
  if (privilege !== undefined) {
    query = query.where(
      sql<boolean>`exists (select from catalog.privilege_grant h where h.principal_id = p.id and h.privilege = ${privilege})`,
    );
  }
  if (status === 'LOCKED') query = query.where('p.status', '=', 'ACTIVE').where('s.locked_until', '>', now);
  else if (status !== null) query = query.where('p.status', '=', status);
  if (status === 'ACTIVE') {
    query = query.where((eb) => eb.or([eb('s.locked_until', 'is', null), eb('s.locked_until', '<=', now)]));
  }
  if (after !== null) query = query.where('p.username', '>', after);
  return (await query.orderBy('p.username').limit(limit).execute()).map(recordOf);
}

/** The tenant's principals of a kind, archived ones left out. */
export async function countPrincipals(tx: Tx, tenantId: string, kind: 'USER' | 'SERVICE'): Promise<number> {
  const { count } = await tx
    .selectFrom('principal')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('tenant_id', '=', tenantId)
    .where('kind', '=', kind)
    .where('archived_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The principal of the tenant that has this email. */
export async function ownerOfEmail(db: Database, tenantId: string, email: string): Promise<PrincipalId | undefined> {
  const query = db.selectFrom('principal').select('id').where('tenant_id', '=', tenantId);
  const row = await query.where('email_folded', '=', foldIdentifier(email)).executeTakeFirst();
  return row === undefined ? undefined : principalId(row.id);
}

/** Whether the tenant has a principal that is active and a tenant_admin. */
export async function hasActiveAdmin(tx: Tx, tenantId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('principal')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('status', 'in', ['ACTIVE', 'PROVISIONED'])
    .where(sql<boolean>`roles @> ${sql.val([TENANT_ADMIN])}::text[]`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

const recordOf = (row: Row): PrincipalRecord => ({
  id: principalId(row.id),
  kind: row.kind,
  username: row.username,
  status: row.status,
  roles: row.roles,
  privileges: new Set(row.privileges),
  isAdmin: row.roles.includes(TENANT_ADMIN),
  email: row.email,
  displayName: row.display_name,
  defaultRole: row.default_role,
  defaultWarehouse: row.default_warehouse,
  mustChangePassword: row.must_change_password,
  comment: row.comment,
  identitySource: row.identity_source,
  sessionEpoch: row.session_epoch,
  legalHold: row.legal_hold,
  legalHoldByAdmin: row.legal_hold && row.legal_hold_by_admin,
  suspendedByProvider: row.suspended_by_provider,
  isBootstrap: row.is_bootstrap_principal,
  passwordHash: row.password_hash,
  passwordMaker: row.password_maker,
  passwordSetBy: row.password_set_by === null ? null : principalId(row.password_set_by),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  deactivatedAt: row.deactivated_at,
  loginFailures: row.login_failures ?? 0,
  lockedUntil: row.locked_until,
  lastLoginAt: row.last_login_at,
  factors: row.factors,
});

/** The session epoch of a principal that is there. */
export async function sessionEpochOf(db: Database, id: PrincipalId): Promise<number> {
  const query = db.selectFrom('principal').select('session_epoch').where('id', '=', id);
  return (await query.executeTakeFirstOrThrow()).session_epoch;
}
