import { sql, type RawBuilder } from 'kysely';
import { principalId, type PrincipalId } from '#shared/id.ts';
import type { JsonObject } from '#shared/json.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { afterBeginning } from './after-beginning.ts';
import type { Database, PrincipalStatus, Tx } from './tables.ts';

/** Users and groups that identity providers have sent by SCIM. */

export type ScimUserRow = {
  readonly id: string;
  readonly principal: PrincipalId;
  readonly status: PrincipalStatus;
  /** The last word of the provider; an administrator may have suspended him here. */
  readonly active: boolean;
  readonly userName: string;
  readonly externalId: string | null;
  readonly resource: JsonObject;
  readonly version: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** A comparison of a filter with a column. */
export type ScimWhere = { readonly attribute: string; readonly operator: 'eq' | 'sw'; readonly value: string };
export type ScimPage = { readonly offset: number; readonly count: number };

type UserFacts = {
  readonly userName: string;
  readonly active: boolean;
  readonly externalId: string | null;
  readonly emails: readonly string[];
  readonly resource: JsonObject;
};

const users = (db: Database, providerId: string) =>
  db
    .selectFrom('scim_user as s')
    .innerJoin('principal as p', 'p.id', 's.principal_id')
    .select([
      's.id',
      's.principal_id',
      'p.status',
      's.active',
      's.user_name as userName',
      's.external_id as externalId',
      's.resource',
      's.version',
      's.created_at as createdAt',
      's.updated_at as updatedAt',
    ])
    .where('s.provider_id', '=', providerId);
type UserRow = Awaited<ReturnType<ReturnType<typeof users>['executeTakeFirstOrThrow']>>;
const rowOf = ({ principal_id: principal, ...rest }: UserRow): ScimUserRow => ({
  ...rest,
  principal: principalId(principal),
});

export async function findScimUser(db: Database, providerId: string, id: string): Promise<ScimUserRow | undefined> {
  const row = await users(db, providerId).where('s.id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : rowOf(row);
}

/** The user whom a provider has sent with this id of its own. */
export async function findScimUserByExternalId(
  db: Database,
  providerId: string,
  externalId: string,
): Promise<ScimUserRow | undefined> {
  const row = await users(db, providerId).where('s.external_id', '=', externalId).executeTakeFirst();
  return row === undefined ? undefined : rowOf(row);
}

/** The row that a provider has sent of a principal. */
export async function findScimUserOf(
  db: Database,
  providerId: string,
  principal: PrincipalId,
): Promise<ScimUserRow | undefined> {
  const row = await users(db, providerId).where('s.principal_id', '=', principal).executeTakeFirst();
  return row === undefined ? undefined : rowOf(row);
}

/** The beginning of a text, as a pattern. */
const beginning = (value: string): string => `${value.replaceAll(/[\\%_]/g, (c) => `\\${c}`)}%`;

/** Whether a column, which is compared by its bytes, begins with a text. */
function beginsWith(column: string, value: string): RawBuilder<boolean> {
  const after = afterBeginning(value);
  const from = sql<boolean>`${sql.ref(column)} >= ${value}`;
  return after === undefined ? from : sql<boolean>`(${from} and ${sql.ref(column)} < ${after})`;
}

function userWhere({ attribute, operator, value }: ScimWhere): RawBuilder<boolean> {
  const folded = foldIdentifier(value);
  switch (attribute) {
    case 'userName':
      return operator === 'eq'
        ? sql<boolean>`s.user_name_folded = ${folded}`
        : beginsWith('s.user_name_folded', folded);
    case 'externalId':
      return operator === 'eq' ? sql<boolean>`s.external_id = ${value}` : beginsWith('s.external_id', value);
    case 'emails':
      return operator === 'eq'
        ? sql<boolean>`s.emails_folded @> ${sql.val([folded])}::text[]`
        : sql<boolean>`exists (select from unnest(s.emails_folded) as e (email) where e.email like ${beginning(folded)})`;
    default:
      return sql<boolean>`s.id::text = ${value}`;
  }
}

/** A page of the users of a provider, by id, and how many there are in all. */
export async function listScimUsers(
  db: Database,
  providerId: string,
  where: readonly ScimWhere[],
  { offset, count }: ScimPage,
): Promise<{ readonly rows: readonly ScimUserRow[]; readonly total: number }> {
  let all = db.selectFrom('scim_user as s').where('s.provider_id', '=', providerId);
  for (const one of where) all = all.where(userWhere(one));
  // The page is found in the index: of those before it nothing is read. As a parameter its size would be planned as a tenth of all.
  const page = all.select('s.id').orderBy('s.id').offset(offset).limit(sql.lit(count));
  const [{ total }, found] = await Promise.all([
    all.select((eb) => eb.fn.countAll<string>().as('total')).executeTakeFirstOrThrow(),
    count === 0 ? [] : page.execute(),
  ]);
  const ids = found.map(({ id }) => id);
  const rows =
    ids.length === 0
      ? []
      : await users(db, providerId)
          .where(sql<boolean>`s.id = any (${sql.val(ids)}::uuid[])`)
          .orderBy('s.id')
          .execute();
  return { rows: rows.map(rowOf), total: Number(total) };
}

const columnsOf = ({ userName, externalId, emails, resource, active }: UserFacts) => ({
  active,
  user_name: userName,
  user_name_folded: foldIdentifier(userName),
  external_id: externalId,
  emails_folded: emails.map(foldIdentifier),
  resource: JSON.stringify(resource),
});

/** @throws a unique violation for a name or an id that another has */
export async function insertScimUser(
  tx: Tx,
  user: UserFacts & {
    readonly id: string;
    readonly providerId: string;
    readonly principal: PrincipalId;
    readonly now: Date;
  },
): Promise<void> {
  const { id, providerId, principal, now } = user;
  await tx
    .insertInto('scim_user')
    .values({
      id,
      provider_id: providerId,
      principal_id: principal,
      created_at: now,
      updated_at: now,
      ...columnsOf(user),
    })
    .execute();
}

export async function updateScimUser(tx: Tx, id: string, facts: UserFacts, now: Date): Promise<void> {
  await tx
    .updateTable('scim_user')
    .set((eb) => ({ ...columnsOf(facts), updated_at: now, version: eb('version', '+', '1') }))
    .where('id', '=', id)
    .execute();
}

export async function deleteScimUser(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('scim_user').where('id', '=', id).execute();
}

/** All that providers, or one, have sent of a principal goes. */
export async function forgetScimUser(tx: Tx, principal: PrincipalId, providerId?: string): Promise<void> {
  let query = tx.deleteFrom('scim_user').where('principal_id', '=', principal);
  if (providerId !== undefined) query = query.where('provider_id', '=', providerId);
  await query.execute();
}

/** Whether the last word of a provider about a principal is that he is not active. */
export async function isSaidInactive(tx: Tx, principal: PrincipalId): Promise<boolean> {
  const query = tx.selectFrom('scim_user').select('id').where('principal_id', '=', principal);
  return (await query.where('active', '=', false).executeTakeFirst()) !== undefined;
}

/** A row is about another principal from now on. */
export async function moveScimUser(tx: Tx, id: string, principal: PrincipalId): Promise<void> {
  await tx.updateTable('scim_user').set({ principal_id: principal }).where('id', '=', id).execute();
}

export type ScimGroupRow = {
  readonly id: string;
  readonly name: string;
  readonly externalId: string | null;
  readonly version: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

const groups = (db: Database, providerId: string) =>
  db
    .selectFrom('scim_group as g')
    .select([
      'g.id',
      'g.name',
      'g.external_id as externalId',
      'g.version',
      'g.created_at as createdAt',
      'g.updated_at as updatedAt',
    ])
    .where('g.provider_id', '=', providerId);

export const findScimGroup = (db: Database, providerId: string, id: string): Promise<ScimGroupRow | undefined> =>
  groups(db, providerId).where('g.id', '=', id).executeTakeFirst();

function groupWhere({ attribute, operator, value }: ScimWhere): RawBuilder<boolean> {
  switch (attribute) {
    case 'displayName':
      return operator === 'eq' ? sql<boolean>`g.name = ${value}` : beginsWith('g.name', value);
    case 'externalId':
      return operator === 'eq' ? sql<boolean>`g.external_id = ${value}` : beginsWith('g.external_id', value);
    case 'members':
      return sql<boolean>`exists (select from catalog.group_member m
        join catalog.scim_user s on s.principal_id = m.principal_id and s.provider_id = m.provider_id
        where m.provider_id = g.provider_id and m.group_name = g.name and s.id::text = ${value})`;
    default:
      return sql<boolean>`g.id::text = ${value}`;
  }
}

export async function listScimGroups(
  db: Database,
  providerId: string,
  where: readonly ScimWhere[],
  { offset, count }: ScimPage,
): Promise<{ readonly rows: readonly ScimGroupRow[]; readonly total: number }> {
  let all = db.selectFrom('scim_group as g').where('g.provider_id', '=', providerId);
  let query = groups(db, providerId);
  for (const one of where) {
    all = all.where(groupWhere(one));
    query = query.where(groupWhere(one));
  }
  const { total } = await all.select((eb) => eb.fn.countAll<string>().as('total')).executeTakeFirstOrThrow();
  const rows = count === 0 ? [] : await query.orderBy('g.id').offset(offset).limit(sql.lit(count)).execute();
  return { rows, total: Number(total) };
}

/** @throws a unique violation for a name that another has */
export async function insertScimGroup(
  tx: Tx,
  group: Pick<ScimGroupRow, 'id' | 'name' | 'externalId'> & { readonly providerId: string; readonly now: Date },
): Promise<void> {
  const { id, providerId, name, externalId, now } = group;
  await tx
    .insertInto('scim_group')
    .values({ id, provider_id: providerId, name, external_id: externalId, created_at: now, updated_at: now })
    .execute();
}

export async function updateScimGroup(
  tx: Tx,
  { id, name, externalId }: Pick<ScimGroupRow, 'id' | 'name' | 'externalId'>,
  now: Date,
): Promise<void> {
  await tx
    .updateTable('scim_group')
    .set((eb) => ({ name, external_id: externalId, updated_at: now, version: eb('version', '+', '1') }))
    .where('id', '=', id)
    .execute();
}

export async function deleteScimGroup(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('scim_group').where('id', '=', id).execute();
}

export async function countScimGroups(tx: Tx, providerId: string): Promise<number> {
  const query = tx.selectFrom('scim_group').where('provider_id', '=', providerId);
  const { count } = await query.select((eb) => eb.fn.countAll<string>().as('count')).executeTakeFirstOrThrow();
  return Number(count);
}

/** A member of a group, by the id that the provider knows. */
export type ScimMember = { readonly group: string; readonly id: string; readonly userName: string };

/** The members of some groups that the provider has sent. */
export const membersOfGroups = (
  db: Database,
  providerId: string,
  names: readonly string[],
  limit = Number.MAX_SAFE_INTEGER,
): Promise<readonly ScimMember[]> =>
  names.length === 0
    ? Promise.resolve([])
    : db
        .selectFrom('group_member as m')
        .innerJoin('scim_user as s', 's.principal_id', 'm.principal_id')
        .select(['m.group_name as group', 's.id', 's.user_name as userName'])
        .where('m.provider_id', '=', providerId)
        .where('s.provider_id', '=', providerId)
        .where('m.group_name', 'in', [...names])
        .orderBy('s.id')
        .limit(limit)
        .execute();

/** The principals of users that the provider has sent; ids that nobody has are left out. */
export async function principalsOfUsers(
  db: Database,
  providerId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PrincipalId>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('scim_user')
    .select(['id', 'principal_id'])
    .where('provider_id', '=', providerId)
    .where(sql<boolean>`id = any (${sql.val([...ids])}::uuid[])`)
    .execute();
  return new Map(rows.map(({ id, principal_id: principal }) => [id, principalId(principal)]));
}

/** From now on the groups of the provider are those that it sends: those of its tokens end. */
export async function beginScimGroups(tx: Tx, providerId: string): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('identity_provider')
    .set({ scim_groups: true })
    .where('id', '=', providerId)
    .where('scim_groups', '=', false)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await tx.deleteFrom('group_member').where('provider_id', '=', providerId).execute();
}

/** Sets who is in a group. */
export async function setMembers(
  tx: Tx,
  { providerId, group }: { readonly providerId: string; readonly group: string },
  members: readonly PrincipalId[],
): Promise<void> {
  await tx
    .deleteFrom('group_member')
    .where('provider_id', '=', providerId)
    .where('group_name', '=', group)
    .where(sql<boolean>`not (principal_id = any (${sql.val([...members])}::uuid[]))`)
    .execute();
  await sql`insert into catalog.group_member (provider_id, group_name, principal_id)
    select ${providerId}, ${group}, m.id from unnest(${sql.val([...members])}::uuid[]) as m (id) on conflict do nothing`.execute(
    tx,
  );
}

/** The provider and the owner of a personal access token for SCIM that is not over. */
export async function findScimToken(
  db: Database,
  sha256: Buffer,
  now: Date,
): Promise<{ readonly providerId: string; readonly owner: PrincipalId; readonly id: string } | undefined> {
  const row = await db
    .selectFrom('access_token')
    .select(['id', 'provider_id', 'principal_id'])
    .where('sha256', '=', sha256)
    .where('expires_at', '>', now)
    .where('provider_id', 'is not', null)
    .executeTakeFirst();
  if (row === undefined || row.provider_id === null) return undefined;
  return { providerId: row.provider_id, owner: principalId(row.principal_id), id: row.id };
}
