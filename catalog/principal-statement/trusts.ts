import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer, RequestOf, TrustCondition } from '#shared/principal/principal-request.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import { raiseSessionEpoch } from '../store/postgres/principal-store.ts';
import { countOpenTrusts, deleteTrust, putTrust } from '../store/postgres/trust-store.ts';
import { requireNoToken } from './accounts.ts';
import { changing, done, partyOf, requireAccount, type Call } from './change.ts';
import { requireProvider } from './providers.ts';

/** Trusts of one provider that say no single subject: each of its tokens is compared with all of them. */
const OPEN_TRUSTS_MAX = 1_000;
const TEXT_LENGTH_MAX = 600;

const isSubject = ({ claim }: TrustCondition): boolean => claim === 'sub';

/** One `*`, at the end, behind something. */
const isBeginning = (value: string): boolean => value.length > 1 && value.indexOf('*') === value.length - 1;

/** @throws INVALID_REQUEST */
function checkConditions(conditions: readonly TrustCondition[]): void {
  const refuse = (why: string): never => {
    throw new SkeinError('INVALID_REQUEST', why);
  };
  if (!conditions.some(isSubject)) refuse("WHERE says which 'sub' the tokens have");
  for (const { claim, operator, value } of conditions) {
    if (claim === '' || claim.length > TEXT_LENGTH_MAX || claim.includes('\0')) refuse('not the name of a claim');
    if (value === '' || value.length > TEXT_LENGTH_MAX || value.includes('\0')) refuse(`not a value of ${claim}`);
    if (operator === 'LIKE' && !isBeginning(value)) refuse('LIKE has one * at the end, behind at least one character');
  }
}

/**
 * Says which tokens of a provider are a service account, in place of what was said before. Who says it may let himself in, so it is as a key:
 * bounded by the scopes of his token, and gone when the account rises. @throws PRINCIPAL_NOT_FOUND, PROVIDER_NOT_FOUND, FORBIDDEN, LIMIT_REACHED
 */
export async function setTrust(call: Call, input: RequestOf<'set_trust'>): Promise<PrincipalAnswer> {
  checkConditions(input.conditions);
  requireNoToken(call);
  return changing(call, async (change) => {
    const { tx, tenant, actor, now } = change;
    requirePrincipalAction(actor, 'account.create');
    const account = await requireAccount(tx, tenant.id, input.account);
    requirePrincipalAction(actor, 'account.change', account);
    const provider = await requireProvider(tx, tenant.id, input.provider);
    const { conditions } = input;
    await putTrust(tx, {
      providerId: provider.id,
      account: account.id,
      conditions,
      scopes: [...actor.scopes],
      createdBy: actor.id,
      now,
    });
    if ((await countOpenTrusts(tx, provider.id)) > OPEN_TRUSTS_MAX) {
      throw new SkeinError('LIMIT_REACHED', `a provider has at most ${OPEN_TRUSTS_MAX} trusts without one 'sub'`);
    }
    await raiseSessionEpoch(tx, account.id);
    const details = { provider: provider.name, conditions: conditions.map(printCondition) };
    await change.record({ type: 'set_trust', target: partyOf(account), details });
    return done('ALTER SERVICE ACCOUNT');
  });
}

export const printCondition = ({ claim, operator, value }: TrustCondition): string =>
  `'${claim}' ${operator} '${value}'`;

/** Tokens of the provider are the account no more; those that it has end. @throws INVALID_STATE */
export const dropTrust = (call: Call, input: RequestOf<'drop_trust'>): Promise<PrincipalAnswer> =>
  changing(call, async (change) => {
    const { tx, tenant, actor } = change;
    requirePrincipalAction(actor, 'account.create');
    const account = await requireAccount(tx, tenant.id, input.account);
    requirePrincipalAction(actor, 'account.change', account);
    const provider = await requireProvider(tx, tenant.id, input.provider);
    if (!(await deleteTrust(tx, provider.id, account.id))) {
      if (input.ifExists) return done('ALTER SERVICE ACCOUNT');
      throw new SkeinError('INVALID_STATE', `the service account does not trust ${provider.name}`);
    }
    await raiseSessionEpoch(tx, account.id);
    await change.record({ type: 'drop_trust', target: partyOf(account), details: { provider: provider.name } });
    return done('ALTER SERVICE ACCOUNT');
  });
