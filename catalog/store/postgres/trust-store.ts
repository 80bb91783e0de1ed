import { principalId, type PrincipalId } from '#shared/id.ts';
import type { TrustCondition } from '#shared/principal/principal-request.ts';
import type { Database, Tx } from './tables.ts';

/** Which tokens of which provider are a service account. */

export type NewTrust = {
  readonly providerId: string;
  readonly account: PrincipalId;
  readonly conditions: readonly TrustCondition[];
  readonly scopes: readonly string[];
  readonly createdBy: PrincipalId;
  readonly now: Date;
};

/** Replaces the trust that the account has in the provider. */
export async function putTrust(tx: Tx, trust: NewTrust): Promise<void> {
  const { providerId, account, conditions } = trust;
  const subject = conditions.find(({ claim, operator }) => claim === 'sub' && operator === '=')?.value ?? null;
  await deleteTrust(tx, providerId, account);
  await tx
    .insertInto('account_trust')
    .values({
      provider_id: providerId,
      principal_id: account,
      subject,
      conditions: JSON.stringify(conditions),
      scopes: [...trust.scopes],
      created_by: trust.createdBy,
      created_at: trust.now,
    })
    .execute();
}

export async function deleteTrust(tx: Tx, providerId: string, account: PrincipalId): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('account_trust')
    .where('provider_id', '=', providerId)
    .where('principal_id', '=', account)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Trusts of a provider that an account has without saying which subject, all of which are looked at for each token. */
export async function countOpenTrusts(db: Database, providerId: string): Promise<number> {
  const { count } = await db
    .selectFrom('account_trust')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('provider_id', '=', providerId)
    .where('subject', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export type Trust = {
  readonly account: PrincipalId;
  /** The session epoch of the account, while it has this trust. */
  readonly epoch: number;
  readonly conditions: readonly TrustCondition[];
  readonly scopes: readonly string[];
};

/** The trusts in a provider that is enabled whose conditions a token with this subject may meet. */
export async function trustsOf(db: Database, providerId: string, subject: string): Promise<readonly Trust[]> {
  const rows = await db
    .selectFrom('account_trust as a')
    .innerJoin('identity_provider as i', 'i.id', 'a.provider_id')
    .innerJoin('principal as p', 'p.id', 'a.principal_id')
    .select(['a.principal_id', 'a.conditions', 'a.scopes', 'p.session_epoch'])
    .where('i.id', '=', providerId)
    .where('i.enabled', '=', true)
    .where((eb) => eb.or([eb('a.subject', '=', subject), eb('a.subject', 'is', null)]))
    .execute();
  return rows.map(({ principal_id: id, conditions, scopes, session_epoch: epoch }) => ({
    account: principalId(id),
    epoch,
    conditions,
    scopes,
  }));
}

export type NamedTrust = {
  readonly account: string;
  readonly provider: string;
  readonly conditions: readonly TrustCondition[];
};

/** The trusts of some accounts, with the names of their providers. */
export const trustsOfAccounts = (db: Database, accounts: readonly PrincipalId[]): Promise<readonly NamedTrust[]> =>
  accounts.length === 0
    ? Promise.resolve([])
    : db
        .selectFrom('account_trust as a')
        .innerJoin('identity_provider as i', 'i.id', 'a.provider_id')
        .select(['a.principal_id as account', 'i.name as provider', 'a.conditions'])
        .where('a.principal_id', 'in', [...accounts])
        .orderBy('i.name')
        .execute();
