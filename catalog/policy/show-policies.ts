import type { PrincipalAnswer } from '#shared/principal/principal-request.ts';
import type { FoundPolicy, PolicyRequestOf } from '#shared/policy/policy-request.ts';
import { shownBody } from '#shared/policy/argument-name.ts';
import { requireAction } from '../authorization/decide.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import { THE_TENANT } from '../authorization/securable.ts';
import { listAnswer, reading, timeText, type Call, type ListColumns } from '../principal-statement/change.ts';
import { listPolicies, placeOfPolicy, type PolicyRow } from '../store/postgres/policy-store.ts';
import { requirePolicy } from './policy-places.ts';

const signature = ({ arguments: args, returns }: PolicyRow): string =>
  `(${args.map(({ shown, type }) => `${shown} ${type}`).join(', ')}) RETURNS ${returns}`;

const COLUMNS: ListColumns<PolicyRow> = {
  name: ['VARCHAR', ({ name }) => name],
  catalog_name: ['VARCHAR', ({ catalog }) => catalog],
  schema_name: ['VARCHAR', ({ namespace }) => namespace.join('.')],
  kind: ['VARCHAR', ({ kind }) => (kind === 'masking' ? 'MASKING_POLICY' : 'ROW_ACCESS_POLICY')],
  signature: ['VARCHAR', signature],
  owner: ['VARCHAR', ({ owner }) => owner],
  created_at: ['TIMESTAMP WITH TIME ZONE', ({ createdAt }) => timeText(createdAt)],
};

/** `SHOW ROW POLICIES`, `SHOW MASKING POLICIES`: without their bodies, for all who may list tables. */
export async function showPolicies(call: Call, input: PolicyRequestOf<'show_policies'>): Promise<PrincipalAnswer> {
  requireAction(call.principal, 'table.list', THE_TENANT);
  const { db, tenant } = await reading(call);
  const rows = await listPolicies(db, tenant.id, input.policyKind, input);
  const last = rows.length < input.limit ? undefined : rows.at(-1);
  return listAnswer(COLUMNS, rows, last === undefined ? null : placeOfPolicy(last));
}

/** `DESCRIBE ROW ACCESS | MASKING POLICY`. @throws FORBIDDEN without MANAGE POLICIES, POLICY_NOT_FOUND */
export async function describePolicy(call: Call, input: PolicyRequestOf<'describe_policy'>): Promise<PrincipalAnswer> {
  const { db, tenant, actor } = await reading(call);
  requirePrincipalAction(actor, 'policy.show');
  const policy = await requirePolicy(db, tenant, input.policy, input.policyKind);
  return listAnswer(
    {
      ...COLUMNS,
      body: [
        'VARCHAR',
        ({ body, arguments: args }) =>
          shownBody(
            body,
            args.map(({ shown }) => shown),
          ),
      ],
    },
    [policy],
  );
}

/** The facts of a policy that a binding and a new body need, as the one value of an answer. @throws as `describePolicy` */
export async function findPolicyCall(call: Call, input: PolicyRequestOf<'find_policy'>): Promise<PrincipalAnswer> {
  const { db, tenant, actor } = await reading(call);
  requirePrincipalAction(actor, 'policy.show');
  const {
    id,
    version,
    arguments: args,
    returns,
    body,
  } = await requirePolicy(db, tenant, input.policy, input.policyKind);
  const found: FoundPolicy = { id, version, arguments: args, returns, body };
  return { columns: ['policy'], rows: [[JSON.stringify(found)]], next: null };
}
