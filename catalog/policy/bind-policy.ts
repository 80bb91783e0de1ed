import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer } from '#shared/principal/principal-request.ts';
import type { PolicyKind, PolicyRequestOf } from '#shared/policy/policy-request.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import { changing, done, type Call } from '../principal-statement/change.ts';
import {
  countBindings,
  deleteBindings,
  insertBinding,
  type EndedBinding,
} from '../store/postgres/policy-binding-store.ts';
import { lockPolicy } from '../store/postgres/policy-store.ts';
import { requireVersion } from './create-policy.ts';
import {
  displayPolicy,
  requireLocked,
  requirePolicy,
  requireUnchanged,
  takeMappings,
  type PolicyName,
} from './policy-places.ts';

const BINDINGS_MAX = 20;
const STATUS = 'ALTER TABLE';

type Binding = Omit<PolicyRequestOf<'bind_row_policy'>, 'kind'>;

export const bindRowPolicy = (call: Call, input: PolicyRequestOf<'bind_row_policy'>): Promise<PrincipalAnswer> =>
  bind(call, 'row_access', input);

export const setMaskingPolicy = (call: Call, input: PolicyRequestOf<'set_masking_policy'>): Promise<PrincipalAnswer> =>
  bind(call, 'masking', input);

/**
 * Binds a policy to columns of a table that the caller has checked at the versions that it names.
 * @throws COMMIT_CONFLICT when one of them is another by now; ALREADY_EXISTS, LIMIT_REACHED, POLICY_IN_USE for a table that a bound body reads
 */
const bind = (call: Call, kind: PolicyKind, input: Binding): Promise<PrincipalAnswer> =>
  changing(call, async ({ tx, tenant, actor, now, record }) => {
    requirePrincipalAction(actor, 'policy.change');
    const { table, policy: name, version, fieldIds } = input;
    const policy = await requirePolicy(tx, tenant, name, kind);
    requireVersion(await lockPolicy(tx, policy.id), version, name);
    if (fieldIds.length !== policy.arguments.length) throw wrongCount(name, policy.arguments.length);
    const state = await requireUnchanged(tx, tenant, table);
    if (state.isStorage) throw new SkeinError('INVALID_REQUEST', 'policies are bound to tables, not to views');
    if (state.isMapping)
      throw new SkeinError('POLICY_IN_USE', 'a policy reads the table, which has none itself therefore');
    // The tables that it reads must still be those that its body was checked with.
    const mappings = await takeMappings(tx, tenant, input.mappings);
    if (mappings.some(({ tableId }) => tableId === state.id)) {
      throw new SkeinError('INVALID_REQUEST', 'a policy is not bound to a table that it reads');
    }
    if ((await countBindings(tx, state.id)) >= BINDINGS_MAX) {
      throw new SkeinError('LIMIT_REACHED', `at most ${BINDINGS_MAX} policies are bound to a table`);
    }
    await insertBinding(tx, { tableId: state.id, policyId: policy.id, kind, fieldIds, now });
    await record({
      type: 'bind_policy',
      target: { id: state.id, name: displayTable(table.table) },
      details: { kind, policy: displayPolicy(policy) },
    });
    return done(STATUS);
  });

const wrongCount = (name: PolicyName, count: number): SkeinError =>
  new SkeinError('INVALID_REQUEST', `policy ${displayPolicy(name)} has ${count} arguments: name a column for each`);

export const unbindRowPolicy = (call: Call, input: PolicyRequestOf<'unbind_row_policy'>): Promise<PrincipalAnswer> =>
  unbind(call, input, async ({ tx, tenant }) => {
    const policy = await requirePolicy(tx, tenant, input.policy, 'row_access');
    return {
      ended: { kind: 'row_access', policyId: policy.id },
      missing: `policy ${displayPolicy(policy)} is not bound to the table`,
    };
  });

/** Ends all row policies of a table; it may have none. */
export const unbindRowPolicies = (
  call: Call,
  input: PolicyRequestOf<'unbind_row_policies'>,
): Promise<PrincipalAnswer> =>
  unbind(call, input, () => Promise.resolve({ ended: { kind: 'row_access' }, missing: null }));

export const unsetMaskingPolicy = (
  call: Call,
  input: PolicyRequestOf<'unset_masking_policy'>,
): Promise<PrincipalAnswer> =>
  unbind(call, input.table, () =>
    Promise.resolve({
      ended: { kind: 'masking', fieldId: input.fieldId },
      missing: 'the column has no masking policy',
    }),
  );

type Changing = Parameters<Parameters<typeof changing>[1]>[0];
type TableName = Parameters<typeof requireLocked>[2];
/** `missing` is the message for nothing that ends; null = that is no error. */
type Unbinding = { readonly ended: EndedBinding; readonly missing: string | null };

const unbind = (
  call: Call,
  { table }: { readonly table: TableName },
  find: (change: Pick<Changing, 'tx' | 'tenant'>) => Promise<Unbinding>,
): Promise<PrincipalAnswer> =>
  changing(call, async ({ tx, tenant, actor, record }) => {
    requirePrincipalAction(actor, 'policy.change');
    const { id } = await requireLocked(tx, tenant, table);
    const { ended, missing } = await find({ tx, tenant });
    const policies = await deleteBindings(tx, id, ended);
    if (policies.length === 0 && missing !== null) throw new SkeinError('POLICY_NOT_FOUND', missing);
    if (policies.length > 0) {
      await record({
        type: 'unbind_policy',
        target: { id, name: displayTable(table) },
        details: { kind: ended.kind, policies },
      });
    }
    return done(STATUS);
  });

const displayTable = ({ catalog, namespace, table }: TableName): string => [catalog, ...namespace, table].join('.');
