import { useState, type ReactNode } from 'react';
import type { WhoamiEntry as Whoami } from '#coordinator/api/http/api-types.ts';
import { RowsTab } from '../inspect/rows-tab.tsx';
import { Actions, type Action } from '../statement/action-form.tsx';
import { principalRefusal } from './rights.ts';
import {
  bindPolicy,
  createPolicy,
  describePolicy,
  dropPolicy,
  policyReferences,
  setPolicyBody,
  showPolicies,
  unbindPolicy,
  type PolicyKind,
} from './statements.ts';

/** Policies: their lists, one with its body, and what they are bound to. */
export function PoliciesPage({ me }: { readonly me: Whoami }): ReactNode {
  const [kind, setKind] = useState<PolicyKind>('ROW ACCESS');
  const [policy, setPolicy] = useState('');
  const [catalog, setCatalog] = useState('');
  const [version, setVersion] = useState(0);
  const refusal = principalRefusal(me, 'MANAGE POLICIES');
  return (
    <>
      <form className="bar filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Kind
          <select value={kind} onChange={({ target }) => setKind(target.value as PolicyKind)}>
            <option>ROW ACCESS</option>
            <option>MASKING</option>
          </select>
        </label>
        <label>
          Policy (schema.name)
          <input defaultValue="" onBlur={({ target }) => setPolicy(target.value.trim())} />
        </label>
        <label>
          Bindings in the catalog
          <input defaultValue="" onBlur={({ target }) => setCatalog(target.value.trim())} />
        </label>
      </form>
      {refusal === undefined ? (
        <RowsTab key={`${kind} ${version}`} made={showPolicies(kind)} label="Policies" />
      ) : (
        <p className="quiet">{refusal}</p>
      )}
      {policy === '' || refusal !== undefined ? null : (
        <RowsTab key={`${kind} ${policy} ${version}`} made={describePolicy(kind, policy)} label={`Policy ${policy}`} />
      )}
      {catalog === '' ? null : (
        <RowsTab key={`${catalog} ${version}`} made={policyReferences(catalog)} label="Bindings" />
      )}
      <Actions
        key={`${kind} ${policy}`}
        actions={policyActions(kind, policy, refusal)}
        onDone={() => setVersion((now) => now + 1)}
      />
    </>
  );
}

function policyActions(kind: PolicyKind, policy: string, refusal: string | undefined): readonly Action[] {
  const name = { name: 'POLICY', kind: 'text', initial: policy } as const;
  const table = { name: 'TABLE', kind: 'text', hint: 'schema.table' } as const;
  return [
    {
      title: 'Create a policy',
      fields: [
        name,
        { name: 'AS', kind: 'text', hint: 'val VARCHAR' },
        ...(kind === 'MASKING' ? [{ name: 'RETURNS', kind: 'text', initial: 'VARCHAR' } as const] : []),
        { name: 'BODY', kind: 'lines' },
      ],
      make: ({ POLICY = '', AS = '', RETURNS = '', BODY = '' }) =>
        createPolicy(kind, { policy: POLICY, args: AS, returns: RETURNS, body: BODY }),
      refusal,
    },
    {
      title: 'Set the body',
      fields: [name, { name: 'BODY', kind: 'lines' }],
      make: ({ POLICY = '', BODY = '' }) => setPolicyBody(kind, POLICY, BODY),
      refusal,
    },
    {
      title: 'Bind',
      fields: [
        name,
        table,
        { name: 'COLUMNS', kind: 'text', hint: 'With commas; the first is the one that is masked' },
      ],
      make: ({ POLICY = '', TABLE = '', COLUMNS = '' }) => bindPolicy(kind, POLICY, TABLE, COLUMNS),
      refusal,
    },
    {
      title: 'Unbind',
      fields: [name, table, ...(kind === 'MASKING' ? [{ name: 'COLUMN', kind: 'text' } as const] : [])],
      make: ({ POLICY = '', TABLE = '', COLUMN = '' }) => unbindPolicy(kind, POLICY, TABLE, COLUMN),
      refusal,
      ...(policy === '' ? {} : { danger: policy }),
    },
    ...(policy === ''
      ? []
      : [{ title: `Drop ${policy}`, fields: [], make: () => dropPolicy(kind, policy), danger: policy, refusal }]),
  ];
}
