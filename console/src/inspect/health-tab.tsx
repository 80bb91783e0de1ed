import { useState, type ReactNode } from 'react';
import { Problem } from '../app/problem.tsx';
import { printBytes, printCount } from '../app/print-figures.ts';
import { Actions, type Action } from '../statement/action-form.tsx';
import { SmallTable, StatementPanel } from '../statement/statement-panel.tsx';
import { HIDDEN } from './hidden.tsx';
import { refusalOf } from './may.ts';
import { maintain, type ObjectPath } from './statements.ts';
import type { Details, Files, Health } from './table-answers.ts';
import { useObject } from './table-api.ts';
import { tellFinding } from './tell-finding.ts';

type Props = { readonly path: ObjectPath; readonly details: Details; readonly onChanged: () => void };

/** The faults of the table, each with the statement that mends it, and what it was before and is after. */
export function HealthTab({ path, details, onChanged }: Props): ReactNode {
  const { data, error, isPending, refetch } = useObject<Health>('tables', path, 'health');
  const files = useObject<Files>('tables', path, 'files');
  const [before, keep] = useState<Files | null>(null);
  if (error !== null) return <Problem error={error} />;
  if (isPending) return <p role="status">Looking …</p>;
  if (data.hidden_by_policy) return <p>What tells of the table&apos;s rows is {HIDDEN}, and so is its health.</p>;
  const mended = (): void => {
    if (before === null && files.data !== undefined) keep(files.data);
    void refetch();
    void files.refetch();
    onChanged();
  };
  return (
    <>
      {data.is_whole ? null : <p role="status">Too many files to count: this is what is known.</p>}
      {data.findings.length === 0 ? <p role="status">Nothing to mend.</p> : null}
      {data.findings.map((finding) => (
        <section key={finding.code} aria-label={finding.code} className="finding">
          <p>{tellFinding(finding)}</p>
          <StatementPanel
            made={{ sql: finding.statement }}
            onDone={mended}
            refusal={refusalOf(details.actions, 'table.commit')}
            {...(finding.code === 'old_snapshots' ? { danger: path.name } : {})}
          />
        </section>
      ))}
      {before === null || files.data === undefined ? null : <BeforeAndAfter before={before} after={files.data} />}
      <h2>Maintenance</h2>
      <Actions actions={maintenance(path, details)} onDone={mended} />
    </>
  );
}

function maintenance(path: ObjectPath, { actions }: Details): readonly Action[] {
  const refusal = refusalOf(actions, 'table.commit');
  const dry = (title: string, procedure: string): Action => ({
    title,
    fields: [],
    make: () => maintain(path, procedure, true),
    refusal,
  });
  return [
    dry('Which snapshots would expire', 'expire_snapshots'),
    {
      title: 'Expire snapshots',
      fields: [],
      make: () => maintain(path, 'expire_snapshots', false),
      danger: path.name,
      refusal,
    },
    dry('Which files are orphans', 'remove_orphan_files'),
    {
      title: 'Remove orphan files',
      fields: [],
      make: () => maintain(path, 'remove_orphan_files', false),
      danger: path.name,
      refusal,
    },
  ];
}

function BeforeAndAfter({ before, after }: { readonly before: Files; readonly after: Files }): ReactNode {
  const row = (name: string, of: (files: Files) => string): readonly string[] => [name, of(before), of(after)];
  const told = (value: number | undefined, print: (value: number) => string): string =>
    value === undefined ? 'not told' : print(value);
  return (
    <SmallTable
      label="Before and after"
      columns={['', 'Before', 'After']}
      rows={[
        row('Data files', ({ data }) => told(data?.files, printCount)),
        row('Size', ({ data }) => told(data?.bytes, printBytes)),
        row('Position deletes', ({ position_deletes: deletes }) => told(deletes?.files, printCount)),
        row('Manifests', ({ data_manifests: manifests }) => told(manifests?.manifests, printCount)),
      ]}
    />
  );
}
