import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ApiError } from '../api/call.ts';
import type { WhoamiEntry as Whoami } from '#coordinator/api/http/api-types.ts';
import { RowsTab } from '../inspect/rows-tab.tsx';
import { cellText } from '../statement/cell-text.ts';
import type { StatementAnswer } from '../statement/made-statement.ts';
import { runStatement } from '../statement/run-statement.ts';
import { Holders } from './holders.tsx';
import { askedOf } from './policy-readers.ts';
import { principalRefusal } from './rights.ts';
import { boundTables, describePolicy, policyPath, type PolicyKind, type PolicyPlace } from './statements.ts';

type Props = { readonly kind: PolicyKind; readonly place: PolicyPlace; readonly me: Whoami; readonly version: number };

/** A policy with its body, the tables that it is bound to, who is exempt, and whom its body treats by themselves. */
export function Affected({ kind, place, me, version }: Props): ReactNode {
  const refusal = principalRefusal(me, 'MANAGE POLICIES', 'principal:read');
  return (
    <section aria-label={`Policy ${place.policy}`}>
      <h2>{place.policy}</h2>
      {refusal === undefined ? (
        <RowsTab made={describePolicy(kind, policyPath(place))} label={`About ${place.policy}`} />
      ) : (
        <p className="quiet">Its body is not shown: {refusal}</p>
      )}
      <h2>Who is affected</h2>
      <p>
        Everybody who reads these tables, administrators and owners among them, but for whoever has BYPASS POLICIES.
        {kind === 'MASKING' ? ' Policies of the same name in other schemas are among them.' : ''}
      </p>
      <RowsTab made={boundTables(kind, place)} label={`Tables of ${place.policy}`} />
      <Holders me={me} privilege="BYPASS POLICIES" version={version} />
      {refusal === undefined ? <ByBody kind={kind} place={place} me={me} version={version} /> : null}
    </section>
  );
}

function ByBody({ kind, place, me, version }: Props): ReactNode {
  const made = describePolicy(kind, policyPath(place));
  const { data } = useQuery<StatementAnswer, ApiError>({
    queryKey: ['statement', made.sql],
    queryFn: ({ signal }) => runStatement(made, { signal }),
    gcTime: 0,
  });
  if (data === undefined) return null;
  const { roles, facts } = askedOf(cellText(data.rows[0]?.[data.columns.indexOf('body')]));
  const asked = [...roles.map((role) => `the role ${role}`), ...facts];
  return (
    <>
      <p>
        {asked.length === 0
          ? 'Its body asks nothing about its reader: it is the same for all.'
          : `Its body goes by ${asked.join(', ')}.`}
      </p>
      {roles.map((role) => (
        <Holders key={role} me={me} role={role} version={version} />
      ))}
    </>
  );
}
