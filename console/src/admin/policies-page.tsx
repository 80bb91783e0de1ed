import { useState, type ReactNode } from 'react';
import type { WhoamiEntry as Whoami } from '#coordinator/api/http/api-types.ts';
import { FilterField } from '../app/filter-field.tsx';
import { RowsTab } from '../inspect/rows-tab.tsx';
import { Actions, type Action } from '../statement/action-form.tsx';
import { Affected } from './affected.tsx';
import { AsRole } from './as-role.tsx';
import { PolicyList } from './policy-list.tsx';
import { principalRefusal } from './rights.ts';
import {
  bindPolicy,
  createPolicy,
  dropPolicy,
  policyPath,
  policyReferences,
  setPolicyBody,
  unbindPolicy,
  type PolicyKind,
  type PolicyPlace,
} from './statements.ts';

/** Policies: their lists, one with its body and who is affected, bindings, and a table as one of the reader's roles sees it. */
export function PoliciesPage({ me }: { readonly me: Whoami }): ReactNode {
  const [kind, setKind] = useState<PolicyKind>('ROW ACCESS');
  const [chosen, choose] = useState<PolicyPlace | null>(null);
  const [catalog, setCatalog] = useState('');
  const [version, setVersion] = useState(0);
  const refusal = principalRefusal(me, 'MANAGE POLICIES');
  const name = chosen === null ? '' : policyPath(chosen);
  return (
    <>
      <form className="bar filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Kind
          <select
            value={kind}
            onChange={({ target }) => {
              setKind(target.value as PolicyKind);
              choose(null);
            }}
          >
            <option>ROW ACCESS</option>
            <option>MASKING</option>
          </select>
        </label>
        <FilterField label="Bindings in the catalog" type="text" value={catalog} onSet={setCatalog} />
      </form>
      <PolicyList key={`list ${kind} ${version}`} kind={kind} onChoose={choose} />
      {catalog === '' ? null : (
        <RowsTab key={`${catalog} ${version}`} made={policyReferences(catalog)} label="Bindings" />
      )}
      <Actions
        key={`${kind} ${name}`}
        actions={policyActions(kind, chosen, refusal)}
        onDone={() => setVersion((now) => now + 1)}
      />
      {chosen === null ? null : (
        <Affected key={`${kind} ${name} ${version}`} kind={kind} place={chosen} me={me} version={version} />
      )}
      <AsRole roles={me.roles} />
    </>
  );
}

function policyActions(kind: PolicyKind, chosen: PolicyPlace | null, refusal: string | undefined): readonly Action[] {
  const name = {
    name: 'POLICY',
    kind: 'text',
    initial: chosen === null ? '' : policyPath(chosen),
    hint: 'catalog.schema.policy; a part with a dot in double quotes',
  } as const;
  const table = { name: 'TABLE', kind: 'text', hint: 'schema.table; a part with a dot in double quotes' } as const;
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
        {
          name: 'COLUMNS',
          kind: 'text',
          hint: 'With commas; the first is the one that is masked. A name with a comma in double quotes',
        },
      ],
      make: ({ POLICY = '', TABLE = '', COLUMNS = '' }) => bindPolicy(kind, POLICY, TABLE, COLUMNS),
      refusal,
    },
    {
      title: 'Unbind',
      fields: [name, table, ...(kind === 'MASKING' ? [{ name: 'COLUMN', kind: 'text' } as const] : [])],
      make: ({ POLICY = '', TABLE = '', COLUMN = '' }) => unbindPolicy(kind, POLICY, TABLE, COLUMN),
      refusal,
      ...(chosen === null ? {} : { danger: chosen.policy }),
    },
    ...(chosen === null
      ? []
      : [
          {
            title: `Drop ${chosen.policy}`,
            fields: [],
            make: () => dropPolicy(kind, policyPath(chosen)),
            danger: chosen.policy,
            refusal,
          },
        ]),
  ];
}
