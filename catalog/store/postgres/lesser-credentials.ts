import { sql, type RawBuilder } from 'kysely';
import type { PrincipalId } from '#shared/id.ts';
import { deleteFactors, MAKER_OF_PROVIDER, type FactorKind } from './factor-store.ts';
import { setGroups } from './group-store.ts';
import { raiseSessionEpoch, TENANT_ADMIN } from './principal-store.ts';
import { forgetScimUser } from './scim-store.ts';
import type { Tx } from './tables.ts';

/**
 * Credentials of a principal that somebody has made who may not grant: neither the principal itself nor an active tenant_admin. Whoever has
 * made one can sign in as the principal, so what it is granted must not be opened by them.
 */

/** Whether the principal that the column `by`, with its table, names may not grant; null is the operator, or the owner itself. */
const isLesser = (by: string, owner: PrincipalId): RawBuilder<boolean> => sql<boolean>`(
  ${sql.ref(by)} <> ${owner} and not exists (
    select from catalog.principal m join catalog.principal o on o.tenant_id = m.tenant_id
    where m.id = ${sql.ref(by)} and o.id = ${owner} and m.status in ('ACTIVE', 'PROVISIONED')
      and m.roles @> ${sql.val([TENANT_ADMIN])}::text[]))`;

/** The name of the principal that the column `by` names; null: it is gone. */
const nameOf = (by: string): RawBuilder<string | null> =>
  sql<string | null>`(select m.username from catalog.principal m where m.id = ${sql.ref(by)})`;

/** A credential that has ended, in words. */
export type Ended = { readonly what: string; readonly maker: string | null };

/** Each kind of credential that opens a principal: its end, where a lesser one has made it. A new kind takes its place here. */
const KINDS: readonly ((tx: Tx, owner: PrincipalId, now: Date) => Promise<readonly Ended[]>)[] = [
  // Looks at who has set the password, before that ends.
  endFactors,
  endPassword,
  endInvitations,
  endTokens,
  endKeypairs,
  endTrusts,
  endIdentities,
];

/** Ends all of them, in the transaction of the grant. */
export async function endLesserCredentials(tx: Tx, owner: PrincipalId, now: Date): Promise<readonly Ended[]> {
  const ended: Ended[] = [];
  for (const end of KINDS) ended.push(...(await end(tx, owner, now)));
  return ended;
}

/**
 * Those that were set up with a password of a lesser one, or in a sign-in at his identity provider, and all with such a password itself: its giver may
 * have set them up.
 */
async function endFactors(tx: Tx, owner: PrincipalId): Promise<readonly Ended[]> {
  const given = (by: string): RawBuilder<boolean> => isLesser(by, owner);
  const maker = await tx
    .selectFrom('principal')
    .select(
      sql<string | null>`coalesce((
        select m.username from (
          select given_by from catalog.authenticator where principal_id = ${owner}
          union all select given_by from catalog.passkey where principal_id = ${owner}
        ) f join catalog.principal m on m.id = f.given_by where ${given('f.given_by')} limit 1
      ), ${nameOf('principal.password_set_by')})`.as('maker'),
    )
    .where('id', '=', owner)
    .where((eb) =>
      eb.or([
        given('principal.password_set_by'),
        eb.exists(
          eb
            .selectFrom('authenticator')
            .select('principal_id')
            .where('principal_id', '=', owner)
            .where(given('authenticator.given_by')),
        ),
        eb.exists(
          eb.selectFrom('passkey').select('id').where('principal_id', '=', owner).where(given('passkey.given_by')),
        ),
      ]),
    )
    .executeTakeFirst();
  if (maker === undefined) return [];
  const kinds = await deleteFactors(tx, owner);
  if (kinds.length > 0) await raiseSessionEpoch(tx, owner);
  return kinds.map((kind) => ({ what: FACTOR_NAMES[kind], maker: maker.maker }));
}

const FACTOR_NAMES: Readonly<Record<FactorKind, string>> = { totp: 'the authenticator', passkey: 'the passkeys' };

async function endPassword(tx: Tx, owner: PrincipalId, now: Date): Promise<readonly Ended[]> {
  const maker = await tx
    .selectFrom('principal')
    .select(nameOf('principal.password_set_by').as('maker'))
    .where('id', '=', owner)
    .where('password_hash', 'is not', null)
    .where(isLesser('principal.password_set_by', owner))
    .executeTakeFirst();
  if (maker === undefined) return [];
  await tx
    .updateTable('principal')
    .set((eb) => ({
      password_hash: null,
      password_set_by: null,
      session_epoch: eb('session_epoch', '+', 1),
      updated_at: now,
    }))
    .where('id', '=', owner)
    .execute();
  return [{ what: 'the password', maker: maker.maker }];
}

async function endInvitations(tx: Tx, owner: PrincipalId): Promise<readonly Ended[]> {
  const rows = await tx
    .deleteFrom('invitation')
    .where('principal_id', '=', owner)
    .where('redeemed_at', 'is', null)
    .where(isLesser('invitation.created_by', owner))
    .returning(nameOf('invitation.created_by').as('maker'))
    .execute();
  return rows.map(({ maker }) => ({ what: 'the invitation', maker }));
}

async function endTokens(tx: Tx, owner: PrincipalId): Promise<readonly Ended[]> {
  const rows = await tx
    .deleteFrom('access_token')
    .where('principal_id', '=', owner)
    .where((eb) => eb.or([isLesser('access_token.created_by', owner), isLesser('access_token.given_by', owner)]))
    .returning(['name', nameOf('access_token.created_by').as('maker')])
    .execute();
  return rows.map(({ name, maker }) => ({ what: `the personal access token ${name}`, maker }));
}

async function endKeypairs(tx: Tx, owner: PrincipalId, now: Date): Promise<readonly Ended[]> {
  const rows = await tx
    .updateTable('keypair')
    .set({ revoked_at: now })
    .where('principal_id', '=', owner)
    .where('revoked_at', 'is', null)
    .where(isLesser('keypair.created_by', owner))
    .returning(['key_id', nameOf('keypair.created_by').as('maker')])
    .execute();
  return rows.map(({ key_id: key, maker }) => ({ what: `the key ${key}`, maker }));
}

/** Trusts that a lesser one has set, or in a provider that one who is no tenant_admin has made: its issuer may be his own. */
async function endTrusts(tx: Tx, owner: PrincipalId): Promise<readonly Ended[]> {
  const rows = await tx
    .deleteFrom('account_trust')
    .using('identity_provider as i')
    .whereRef('i.id', '=', 'account_trust.provider_id')
    .where('account_trust.principal_id', '=', owner)
    .where((eb) => eb.or([isLesser('account_trust.created_by', owner), eb('i.by_admin', '=', false)]))
    .returning(['i.name', nameOf('account_trust.created_by').as('maker')])
    .execute();
  return rows.map(({ name, maker }) => ({ what: `the trust of ${name}`, maker }));
}

/** Links that were made with a password of a lesser one, which sign in whom he has chosen; what their providers say of the user goes with them. */
async function endIdentities(tx: Tx, owner: PrincipalId): Promise<readonly Ended[]> {
  const rows = await tx
    .deleteFrom('principal_identity')
    .using('identity_provider as i')
    .whereRef('i.id', '=', 'principal_identity.provider_id')
    .where('principal_identity.principal_id', '=', owner)
    .where(isLesser('principal_identity.given_by', owner))
    .returning(['i.id', 'i.name', nameOf('principal_identity.given_by').as('maker')])
    .execute();
  for (const { id } of rows) {
    await setGroups(tx, id, owner, []);
    await forgetScimUser(tx, owner, id);
  }
  return rows.map(({ name, maker }) => ({ what: `the link with ${name}`, maker }));
}

/** Another principal who has added a key to the account, a lesser one first; null: nobody has. */
export async function giverOfKeys(tx: Tx, owner: PrincipalId): Promise<string | null> {
  const row = await tx
    .selectFrom('keypair')
    .select('created_by')
    .where('principal_id', '=', owner)
    .where('created_by', 'is not', null)
    .where('created_by', '<>', owner)
    .orderBy(isLesser('keypair.created_by', owner), 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.created_by ?? null;
}

/** The maker of an identity provider that signs the user in, where he was no tenant_admin; null: there is none. */
export async function giverOfIdentities(tx: Tx, owner: PrincipalId): Promise<string | null> {
  const query = tx.selectFrom('principal').select(MAKER_OF_PROVIDER.as('maker')).where('id', '=', owner);
  return (await query.executeTakeFirst())?.maker ?? null;
}

/** Whether this principal may grant in its tenant now, as seen by the owner of a credential. */
export async function mayGrant(tx: Tx, by: PrincipalId, owner: PrincipalId): Promise<boolean> {
  const row = await tx
    .selectFrom('principal as b')
    .select('b.id')
    .where('b.id', '=', by)
    .where((eb) => eb.not(isLesser('b.id', owner)))
    .executeTakeFirst();
  return row !== undefined;
}
