import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import { readPublicKey } from '../principal/public-key.ts';
import { activeKeypairs, insertKeypair, revokeKeypair } from '../store/postgres/credential-store.ts';
import { deleteRecord, insertRecord } from '../store/postgres/principal-change-store.ts';
import { countPrincipals, findByName } from '../store/postgres/principal-record-store.ts';
import { raiseSessionEpoch } from '../store/postgres/principal-store.ts';
import { changing, done, partyOf, requireAccount, type Call } from './change.ts';
import { checkPrincipalName, checkText } from './check-names.ts';
import { grantDefaultRole } from './create-user.ts';
import { requireAdminLeft } from './move-user.ts';

const ACCOUNTS_MAX = 10_000;
const KEYPAIRS_MAX = 10;

/** @throws ALREADY_EXISTS, FORBIDDEN, LIMIT_REACHED, ROLE_NOT_FOUND */
export async function createAccount(call: Call, input: RequestOf<'create_account'>): Promise<PrincipalAnswer> {
  const { name, ifNotExists, comment = null } = input;
  checkPrincipalName('a service account', name);
  checkText('COMMENT', comment);
  return changing(call, async (change) => {
    const { tx, tenant, actor, now } = change;
    requirePrincipalAction(actor, 'account.create');
    if ((await findByName(tx, tenant.id, name)) !== undefined) {
      if (ifNotExists) return done('CREATE SERVICE ACCOUNT');
      throw new SkeinError('ALREADY_EXISTS', `user or service account ${name} exists already`);
    }
    if ((await countPrincipals(tx, tenant.id, 'SERVICE')) >= ACCOUNTS_MAX) {
      throw new SkeinError('LIMIT_REACHED', `an organisation has at most ${ACCOUNTS_MAX} service accounts`);
    }
    const target = { id: await insertRecord(tx, { tenantId: tenant.id, name, comment, now }), name };
    await change.record({ type: 'create_service_account', target });
    await grantDefaultRole(change, target, input.defaultRole);
    return done('CREATE SERVICE ACCOUNT');
  });
}

/** Drops a service account with its roles, keys, tokens and client; its name is free again. @throws PRINCIPAL_NOT_FOUND, FORBIDDEN */
export const dropAccount = (call: Call, { name, ifExists }: RequestOf<'drop_account'>): Promise<PrincipalAnswer> =>
  changing(call, async (change) => {
    const { tx, tenant, actor } = change;
    requirePrincipalAction(actor, 'account.create');
    const found = await findByName(tx, tenant.id, name);
    if (ifExists && found?.kind !== 'SERVICE') return done('DROP SERVICE ACCOUNT');
    const account = await requireAccount(tx, tenant.id, name);
    requirePrincipalAction(actor, 'account.end', account);
    await deleteRecord(tx, account.id);
    await requireAdminLeft(tx, tenant.id, account);
    await change.record({
      type: 'drop_service_account',
      target: partyOf(account),
      details: { roles: [...account.roles] },
    });
    return done('DROP SERVICE ACCOUNT');
  });

/** @throws INVALID_REQUEST for a key that is none, or not of the algorithm; ALREADY_EXISTS, LIMIT_REACHED */
export async function addKeypair(
  call: Call,
  { account: name, keyId, publicKey, algorithm }: RequestOf<'add_keypair'>,
): Promise<PrincipalAnswer> {
  checkPrincipalName('a key', keyId);
  const key = readPublicKey(publicKey, algorithm);
  requireNoToken(call);
  return changing(call, async (change) => {
    const { tx, tenant, actor, now } = change;
    requirePrincipalAction(actor, 'account.create');
    const account = await requireAccount(tx, tenant.id, name);
    requirePrincipalAction(actor, 'account.change', account);
    const active = (await activeKeypairs(tx, [account.id])).get(account.id) ?? [];
    if (active.some((one) => one.keyId === keyId)) {
      throw new SkeinError('ALREADY_EXISTS', `the service account has an active key ${keyId} already`);
    }
    if (active.length >= KEYPAIRS_MAX) {
      throw new SkeinError('LIMIT_REACHED', `a service account has at most ${KEYPAIRS_MAX} active keys`);
    }
    const { pem, algorithm: ofKey } = key;
    const made = { createdBy: actor.id, scopes: [...actor.scopes] };
    await insertKeypair(tx, account.id, { keyId, publicKey: pem, algorithm: ofKey, ...made }, now);
    const details = { key_id: keyId, algorithm: key.algorithm };
    await change.record({ type: 'add_keypair', target: partyOf(account), details });
    return done('ALTER SERVICE ACCOUNT');
  });
}

/** A token that leaked must not make credentials that outlive it. @throws FORBIDDEN */
export function requireNoToken({ principal }: Call): void {
  if (principal.auth_method !== 'pat' && principal.auth_method !== 'federated') return;
  const what = principal.auth_method === 'pat' ? 'a personal access token' : 'a token of an identity provider';
  throw new SkeinError('FORBIDDEN', `${what} creates neither tokens nor keys nor trusts: sign in otherwise`);
}

/** Revokes a key, and ends the tokens of the account. @throws KEYPAIR_NOT_FOUND */
export const dropKeypair = (
  call: Call,
  { account: name, keyId, ifExists }: RequestOf<'drop_keypair'>,
): Promise<PrincipalAnswer> =>
  changing(call, async (change) => {
    const { tx, tenant, actor, now } = change;
    requirePrincipalAction(actor, 'account.create');
    const account = await requireAccount(tx, tenant.id, name);
    requirePrincipalAction(actor, 'account.change', account);
    if (!(await revokeKeypair(tx, account.id, keyId, now))) {
      if (ifExists) return done('ALTER SERVICE ACCOUNT');
      throw new SkeinError('KEYPAIR_NOT_FOUND', `the service account has no active key ${keyId}`);
    }
    await raiseSessionEpoch(tx, account.id);
    await change.record({ type: 'drop_keypair', target: partyOf(account), details: { key_id: keyId } });
    return done('ALTER SERVICE ACCOUNT');
  });
