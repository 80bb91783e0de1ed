import { sql } from 'kysely';
import { principalId, type PrincipalId } from '#shared/id.ts';
import type { Privilege } from '#shared/principal/privilege.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { TENANT_ADMIN } from './principal-store.ts';
import type { Database, Tx } from './tables.ts';

/** Identity providers of tenants, and the users that they sign in. */

/** The owner of a sealed client secret: that of no other provider is opened in its place. */
export const providerSecretOwner = (id: string): string => `identity provider ${id}`;

/** The part of a provider that statements set. */
export type ProviderSettings = {
  readonly clientId: string | null;
  readonly sealedSecret: string | null;
  readonly audiences: readonly string[];
  readonly usernameClaim: string;
  readonly emailClaim: string;
  readonly groupsClaim: string;
  readonly provision: 'NONE' | 'USERS';
  readonly domains: readonly string[];
  readonly label: string | null;
  readonly enabled: boolean;
};

export type ProviderRow = ProviderSettings & {
  readonly id: string;
  readonly tenantId: string;
  /** The name of its tenant. */
  readonly tenant: string;
  readonly name: string;
  readonly issuer: string;
  /** A tenant_admin has made it. */
  readonly byAdmin: boolean;
  /** Its groups are those that it has sent by SCIM. */
  readonly scimGroups: boolean;
  readonly createdAt: Date;
};

const providers = (db: Database) =>
  db
    .selectFrom('identity_provider as i')
    .innerJoin('tenant as t', 't.id', 'i.tenant_id')
    .select([
      'i.id',
      'i.tenant_id as tenantId',
      't.name as tenant',
      'i.name',
      'i.issuer',
      'i.client_id as clientId',
      'i.client_secret_sealed as sealedSecret',
      'i.audiences',
      'i.username_claim as usernameClaim',
      'i.email_claim as emailClaim',
      'i.groups_claim as groupsClaim',
      'i.provision',
      'i.domains',
      'i.label',
      'i.enabled',
      'i.by_admin as byAdmin',
      'i.scim_groups as scimGroups',
      'i.created_at as createdAt',
    ]);

export const findProvider = (db: Database, tenantId: string, name: string): Promise<ProviderRow | undefined> =>
  providers(db)
    .where('i.tenant_id', '=', tenantId)
    .where('i.name_folded', '=', foldIdentifier(name))
    .executeTakeFirst();

export const listProviders = (db: Database, tenantId: string): Promise<readonly ProviderRow[]> =>
  providers(db).where('i.tenant_id', '=', tenantId).orderBy('i.name').execute();

export const findProviderById = (db: Database, id: string): Promise<ProviderRow | undefined> =>
  providers(db).where('i.id', '=', id).executeTakeFirst();

/** The providers at which people of a tenant sign in. @param tenant undefined = the first one that was made */
export const providersForPeople = (db: Database, tenant: string | undefined): Promise<readonly ProviderRow[]> =>
  providers(db)
    .where('i.enabled', '=', true)
    .where('i.client_id', 'is not', null)
    .where((eb) =>
      tenant === undefined
        ? eb('t.id', '=', eb.selectFrom('tenant').select('id').orderBy('created_at').orderBy('id').limit(1))
        : eb('t.name', '=', tenant),
    )
    .orderBy('i.name')
    .execute();

/** The providers of all tenants that take tokens of this issuer for one of the audiences. */
export const providersOfToken = (
  db: Database,
  issuer: string,
  audiences: readonly string[],
): Promise<readonly ProviderRow[]> =>
  providers(db)
    .where('i.issuer', '=', issuer)
    .where('i.enabled', '=', true)
    .where(sql<boolean>`i.audiences && ${sql.val([...audiences])}::text[]`)
    .execute();

const columnsOf = (settings: ProviderSettings) => ({
  client_id: settings.clientId,
  client_secret_sealed: settings.sealedSecret,
  audiences: [...settings.audiences],
  username_claim: settings.usernameClaim,
  email_claim: settings.emailClaim,
  groups_claim: settings.groupsClaim,
  provision: settings.provision,
  domains: [...settings.domains],
  label: settings.label,
  enabled: settings.enabled,
});

export async function insertProvider(
  tx: Tx,
  provider: Omit<ProviderRow, 'tenant' | 'scimGroups'> & { readonly createdBy: PrincipalId },
): Promise<void> {
  const { id, tenantId, name, issuer, byAdmin, createdBy, createdAt } = provider;
  await tx
    .insertInto('identity_provider')
    .values({
      id,
      tenant_id: tenantId,
      name,
      issuer,
      by_admin: byAdmin,
      created_by: createdBy,
      created_at: createdAt,
      ...columnsOf(provider),
    })
    .execute();
}

export async function updateProvider(tx: Tx, id: string, settings: ProviderSettings): Promise<void> {
  await tx.updateTable('identity_provider').set(columnsOf(settings)).where('id', '=', id).execute();
}

export async function deleteProvider(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('identity_provider').where('id', '=', id).execute();
}

/** All whom the provider signs in: users and service accounts. */
export async function principalsOfProvider(tx: Tx, id: string): Promise<readonly PrincipalId[]> {
  const rows = await tx
    .selectFrom('principal_identity')
    .select('principal_id')
    .where('provider_id', '=', id)
    .union(tx.selectFrom('account_trust').select('principal_id').where('provider_id', '=', id))
    .execute();
  return rows.map(({ principal_id: principal }) => principalId(principal));
}

/** Ends the tokens of some principals. @param isStopped the statements that they run end, too */
export async function endTokensOf(tx: Tx, ids: readonly PrincipalId[], isStopped: boolean): Promise<void> {
  await tx
    .updateTable('principal')
    .set((eb) => {
      const epoch = eb('session_epoch', '+', 1);
      return { session_epoch: epoch, ...(isStopped ? { stopped_epoch: epoch } : {}) };
    })
    .where(sql<boolean>`id = any (${sql.val([...ids])}::uuid[])`)
    .execute();
}

/** How many a provider signs in, and the strongest rights among them. */
export type SignedInBy = {
  readonly users: number;
  readonly accounts: number;
  readonly isAdmin: boolean;
  readonly privileges: ReadonlySet<Privilege>;
};

export async function signedInBy(db: Database, id: string): Promise<SignedInBy> {
  const { rows } = await sql<{ users: string; accounts: string; admin: boolean; privileges: readonly Privilege[] }>`
    with held as (
      select principal_id from catalog.principal_identity where provider_id = ${id}
      union select principal_id from catalog.account_trust where provider_id = ${id})
    select (select count(*) from catalog.principal_identity where provider_id = ${id}) as users,
      (select count(*) from catalog.account_trust where provider_id = ${id}) as accounts,
      exists (select from held join catalog.principal p on p.id = held.principal_id
        where p.roles @> ${sql.val([TENANT_ADMIN])}::text[]) as admin,
      array(select distinct g.privilege from held join catalog.privilege_grant g using (principal_id)) as privileges
  `.execute(db);
  const [row] = rows;
  return {
    users: Number(row?.users ?? 0),
    accounts: Number(row?.accounts ?? 0),
    isAdmin: row?.admin === true,
    privileges: new Set(row?.privileges),
  };
}

/** The client secrets of all tenants' providers. */
export async function sealedProviderSecrets(
  db: Database,
): Promise<readonly { readonly id: string; readonly sealed: string }[]> {
  const rows = await db
    .selectFrom('identity_provider')
    .select(['id', 'client_secret_sealed'])
    .where('client_secret_sealed', 'is not', null)
    .execute();
  return rows.flatMap(({ id, client_secret_sealed: sealed }) => (sealed === null ? [] : [{ id, sealed }]));
}

export async function replaceProviderSecret(tx: Tx, id: string, sealed: string): Promise<void> {
  await tx.updateTable('identity_provider').set({ client_secret_sealed: sealed }).where('id', '=', id).execute();
}
