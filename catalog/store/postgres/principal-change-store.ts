import type { UpdateObject } from 'kysely';
import { principalId, type PrincipalId } from '#shared/id.ts';
import type { Database, PrincipalStatus, Tables, Tx } from './tables.ts';

/** The changes of statements about users and service accounts to the rows of these. */

type NewRecord = {
  readonly tenantId: string;
  readonly name: string;
  readonly comment: string | null;
  readonly now: Date;
  /** Absent for a service account. */
  readonly user?: {
    readonly passwordHash: string | null;
    readonly passwordSetBy: PrincipalId | null;
    readonly email: string | null;
    readonly displayName: string | null;
    readonly defaultWarehouse: string | null;
    readonly mustChangePassword: boolean;
    /** An identity provider has made it. */
    readonly isExternal?: boolean;
  };
};

const statusOf = ({ passwordHash, isExternal }: NewRecord['user'] & {}): PrincipalStatus => {
  if (isExternal === true) return 'PROVISIONED';
  return passwordHash === null ? 'INVITED' : 'ACTIVE';
};

/** A user without a password is invited, or of an identity provider. @throws a unique violation for an email that another user has */
export async function insertRecord(tx: Tx, { tenantId, name, comment, now, user }: NewRecord): Promise<PrincipalId> {
  const { id } = await tx
    .insertInto('principal')
    .values({
      tenant_id: tenantId,
      username: name,
      kind: user === undefined ? 'SERVICE' : 'USER',
      password_hash: user?.passwordHash ?? null,
      roles: [],
      is_bootstrap_principal: false,
      comment,
      created_at: now,
      updated_at: now,
      ...(user === undefined
        ? {}
        : {
            status: statusOf(user),
            identity_source: user.isExternal === true ? 'EXTERNAL' : 'NATIVE',
            password_set_by: user.passwordSetBy,
            email: user.email,
            display_name: user.displayName,
            default_warehouse: user.defaultWarehouse,
            must_change_password: user.mustChangePassword,
          }),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return principalId(id);
}

export async function deleteRecord(tx: Tx, id: PrincipalId): Promise<void> {
  await tx.deleteFrom('principal').where('id', '=', id).execute();
}

/** @param role null = sessions begin with none */
export const setDefaultRole = (tx: Tx, id: PrincipalId, role: string | null): Promise<void> =>
  update(tx, id, { default_role: role });

export const setStatus = (tx: Tx, id: PrincipalId, status: PrincipalStatus): Promise<void> =>
  update(tx, id, { status });

/** The state that an event has led to. */
type StoredState = {
  readonly status: PrincipalStatus;
  readonly deactivatedAt: Date | null;
  readonly suspendedByProvider: boolean;
  readonly endsTokens: boolean;
};

export const storeState = (
  tx: Tx,
  id: PrincipalId,
  { status, deactivatedAt, suspendedByProvider, endsTokens }: StoredState,
  now: Date,
): Promise<void> =>
  update(
    tx,
    id,
    { status, deactivated_at: deactivatedAt, suspended_by_provider: suspendedByProvider, updated_at: now },
    endsTokens,
  );

/** From now on an administrator has suspended the user, and no provider lets him back. */
export const storeSuspendedHere = (tx: Tx, id: PrincipalId, now: Date): Promise<void> =>
  update(tx, id, { suspended_by_provider: false, updated_at: now });

/** Absent = it stays. */
type ProfileChange = {
  readonly email?: string | undefined;
  readonly displayName?: string | null | undefined;
  readonly defaultRole?: string | null | undefined;
  readonly defaultWarehouse?: string | null | undefined;
  readonly mustChangePassword?: boolean | undefined;
  readonly comment?: string | null | undefined;
};

/** @throws a unique violation for an email that another user has */
export function storeProfile(
  tx: Tx,
  id: PrincipalId,
  change: ProfileChange,
  { now, endsTokens }: { readonly now: Date; readonly endsTokens: boolean },
): Promise<void> {
  const { email, displayName, defaultRole, defaultWarehouse, mustChangePassword, comment } = change;
  const set = {
    updated_at: now,
    ...(email === undefined ? {} : { email }),
    ...(displayName === undefined ? {} : { display_name: displayName }),
    ...(defaultRole === undefined ? {} : { default_role: defaultRole }),
    ...(defaultWarehouse === undefined ? {} : { default_warehouse: defaultWarehouse }),
    ...(mustChangePassword === undefined ? {} : { must_change_password: mustChangePassword }),
    ...(comment === undefined ? {} : { comment }),
  };
  return update(tx, id, set, endsTokens);
}

/** Ends the tokens, which have the name in them. */
export const storeName = (tx: Tx, id: PrincipalId, to: string): Promise<void> => update(tx, id, { username: to }, true);

/** @param reason null = the hold ends */
export const storeLegalHold = (
  tx: Tx,
  id: PrincipalId,
  { reason, byAdmin, now }: { readonly reason: string | null; readonly byAdmin: boolean; readonly now: Date },
): Promise<void> =>
  update(tx, id, {
    legal_hold: reason !== null,
    legal_hold_reason: reason,
    legal_hold_by_admin: reason !== null && byAdmin,
    updated_at: now,
  });

/** Ends the tokens. @param setBy who else knows the password; null = nobody */
export const storePasswordHash = (
  tx: Tx,
  id: PrincipalId,
  {
    hash,
    mustChange,
    setBy,
  }: { readonly hash: string; readonly mustChange: boolean; readonly setBy: PrincipalId | null },
  now: Date,
): Promise<void> =>
  update(
    tx,
    id,
    { password_hash: hash, password_set_by: setBy, must_change_password: mustChange, updated_at: now },
    true,
  );

/** Removes what is personal of a user who is archived under another name. */
export const storeArchived = (tx: Tx, id: PrincipalId, name: string, now: Date): Promise<void> =>
  update(tx, id, {
    username: name,
    email: null,
    display_name: null,
    default_role: null,
    default_warehouse: null,
    comment: null,
    password_hash: null,
    archived_at: now,
  });

/** Users who were dropped before a time and can be archived, some of them. */
export const dueForArchive = (
  db: Database,
  before: Date,
  limit: number,
): Promise<readonly { readonly id: string; readonly tenantId: string; readonly tenant: string }[]> =>
  db
    .selectFrom('principal as p')
    .innerJoin('tenant as t', 't.id', 'p.tenant_id')
    .select(['p.id', 't.id as tenantId', 't.name as tenant'])
    .where('p.deactivated_at', '<=', before)
    .where('p.archived_at', 'is', null)
    .where('p.legal_hold', '=', false)
    .where('p.is_bootstrap_principal', '=', false)
    .limit(limit)
    .execute();

async function update(
  tx: Tx,
  id: PrincipalId,
  set: UpdateObject<Tables, 'principal'>,
  endsTokens = false,
): Promise<void> {
  await tx
    .updateTable('principal')
    .set((eb) => ({ ...set, ...(endsTokens ? { session_epoch: eb('session_epoch', '+', 1) } : {}) }))
    .where('id', '=', id)
    .execute();
}
