import type { ReactNode } from 'react';
import { Problem } from '../app/problem.tsx';
import { printTime } from '../app/print-figures.ts';
import { Actions, type Action } from '../statement/action-form.tsx';
import { SmallTable, StatementPanel } from '../statement/statement-panel.tsx';
import { addressOf } from './catalog-place.ts';
import { ConnectTab } from './connect-tab.tsx';
import { Crumbs } from './crumbs.tsx';
import { refusalOf } from './may.ts';
import type { ObjectProps } from './object-props.ts';
import { RowsTab } from './rows-tab.tsx';
import {
  commentOn,
  dropRelation,
  explainRefresh,
  firstRows,
  refresh,
  renameRelation,
  showCreate,
  type ObjectPath,
} from './statements.ts';
import type { View } from './table-answers.ts';
import { useObject } from './table-api.ts';
import { Tabs } from './tabs.tsx';

/** A view: its columns, its versions with their texts; a materialized one also whether it is fresh. */
export function ViewPage({ path, tab, me }: ObjectProps): ReactNode {
  const { data, error, isPending, refetch } = useObject<View>('views', path, '');
  if (error !== null || isPending) {
    return (
      <>
        <Crumbs {...path} kind="view" />
        {isPending ? <p role="status">Loading …</p> : null}
        {error === null ? null : <Problem error={error} />}
      </>
    );
  }
  const kind = data.is_materialized ? 'MATERIALIZED VIEW' : 'VIEW';
  const tabs = ['Columns', 'Versions', 'Rows', 'Definition', 'Connect', ...(data.is_materialized ? ['Refresh'] : [])];
  return (
    <>
      <Crumbs {...path} kind={kind.toLowerCase()} />
      <p>
        {data.comment} <span className="quiet">Owner: {data.owner ?? 'not told'}</span>
      </p>
      {data.problem === null ? null : <p role="alert">{data.problem}</p>}
      <Tabs
        tabs={tabs}
        chosen={tab}
        hrefOf={(name) => addressOf(path.catalog, path.schema, path.name, name)}
        label="About the view"
      >
        {(name) => {
          if (name === 'Versions') return <Versions view={data} />;
          if (name === 'Rows') return <RowsTab made={firstRows(path)} label="The first 100 rows" />;
          if (name === 'Definition') return <RowsTab made={showCreate(kind, path)} label="Definition" as="text" />;
          if (name === 'Connect') return <ConnectTab path={path} username={me.username} />;
          if (name === 'Refresh') return <Refresh path={path} actions={me.actions} />;
          return (
            <SmallTable
              label="Columns"
              columns={['Column', 'Type', 'Comment']}
              rows={data.columns.map(({ name: column, type, comment }) => [column, type, comment ?? ''])}
            />
          );
        }}
      </Tabs>
      <h2>Change the view</h2>
      <Actions actions={viewActions(path, kind, data, me.actions)} onDone={() => void refetch()} />
    </>
  );
}

function Versions({ view }: { readonly view: View }): ReactNode {
  return (
    <>
      {view.versions.map(({ version_id: id, created_at: time, dialect, sql }) => (
        <section key={id} aria-label={`Version ${id}`}>
          <h3>
            Version {id} {id === view.version_id ? <span className="badge">current</span> : null}{' '}
            <small className="quiet">
              {printTime(time)}, {dialect}
            </small>
          </h3>
          <pre tabIndex={0}>{sql}</pre>
        </section>
      ))}
      {view.versions_total > view.versions.length ? (
        <p className="quiet">{view.versions_total - view.versions.length} older versions are not shown.</p>
      ) : null}
    </>
  );
}

function Refresh({ path, actions }: { readonly path: ObjectPath; readonly actions: readonly string[] }): ReactNode {
  return (
    <>
      <RowsTab made={explainRefresh(path)} label="Is it fresh" as="text" />
      <StatementPanel made={refresh(path)} label="REFRESH" refusal={refusalOf(actions, 'table.commit')} />
    </>
  );
}

const viewActions = (
  path: ObjectPath,
  kind: 'VIEW' | 'MATERIALIZED VIEW',
  view: View,
  actions: readonly string[],
): readonly Action[] => [
  {
    title: 'Comment',
    fields: [{ name: 'COMMENT', kind: 'text', optional: true, initial: view.comment ?? '' }],
    make: ({ COMMENT = '' }) => commentOn(kind, path, COMMENT),
    refusal: refusalOf(actions, 'view.replace'),
  },
  {
    title: 'Rename',
    fields: [{ name: 'RENAME TO', kind: 'text', initial: path.name }],
    make: (values) => renameRelation(kind, path, values['RENAME TO'] ?? ''),
    leadsTo: (values) => addressOf(path.catalog, path.schema, values['RENAME TO'] ?? ''),
    refusal: refusalOf(actions, 'view.rename'),
  },
  {
    title: 'Drop the view',
    fields: [],
    make: () => dropRelation(kind, path),
    danger: path.name,
    leadsTo: () => addressOf(path.catalog, path.schema),
    refusal: refusalOf(actions, 'view.drop'),
  },
];
