import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { printTime } from '../app/print-figures.ts';
import { LoadButton } from '../load/load-button.tsx';
import { LoadFile } from '../load/load-file.tsx';
import { Actions, type Action } from '../statement/action-form.tsx';
import { addressOf } from './catalog-place.ts';
import { ColumnsTab } from './columns-tab.tsx';
import { ConnectTab } from './connect-tab.tsx';
import { Crumbs } from './crumbs.tsx';
import { FilesTab } from './files-tab.tsx';
import { HealthTab } from './health-tab.tsx';
import { Bytes, Count } from './hidden.tsx';
import { HistoryTab } from './history-tab.tsx';
import { refusalOf } from './may.ts';
import type { ObjectProps } from './object-props.ts';
import { RowsTab } from './rows-tab.tsx';
import {
  commentOn,
  dropRelation,
  firstRows,
  renameRelation,
  setProperty,
  showCreate,
  unsetProperty,
  type ObjectPath,
} from './statements.ts';
import type { Details } from './table-answers.ts';
import { Tabs } from './tabs.tsx';

const TABS = ['Columns', 'History', 'Files', 'Health', 'Rows', 'Definition', 'Connect'];

type Props = ObjectProps & { readonly details: Details; readonly onChanged: () => void };

/** A table: at a glance, and in tabs. */
export function TablePage({ path, tab, ask, me, details, onChanged }: Props): ReactNode {
  const client = useQueryClient();
  const changed = (): void => {
    void client.invalidateQueries({ queryKey: ['object', path.catalog, path.schema, path.name] });
    onChanged();
  };
  return (
    <>
      <Crumbs {...path} kind="table" />
      <Glance details={details} />
      <Tabs
        tabs={TABS}
        chosen={tab}
        hrefOf={(name) => addressOf(path.catalog, path.schema, path.name, name)}
        label="About the table"
      >
        {(name) => {
          if (name === 'History') return <HistoryTab path={path} ask={ask} details={details} onChanged={changed} />;
          if (name === 'Files') return <FilesTab path={path} />;
          if (name === 'Health') return <HealthTab path={path} details={details} onChanged={changed} />;
          if (name === 'Rows') return <RowsTab made={firstRows(path)} label="The first 100 rows" />;
          if (name === 'Definition') return <RowsTab made={showCreate('TABLE', path)} label="Definition" as="text" />;
          if (name === 'Connect') return <ConnectTab path={path} username={me.username} />;
          return <ColumnsTab path={path} details={details} onChanged={changed} />;
        }}
      </Tabs>
      <h2>Change the table</h2>
      <LoadButton>
        <LoadFile
          {...path}
          table={{
            name: path.name,
            columns: details.columns.flatMap(({ parent_id: parent, name }) => (parent === null ? [name] : [])),
          }}
          refusal={refusalOf(details.actions, 'table.commit')}
          onLoaded={changed}
        />
      </LoadButton>
      <Actions actions={tableActions(path, details)} onDone={changed} />
    </>
  );
}

function Glance({ details }: { readonly details: Details }): ReactNode {
  const isHidden = details.hidden_by_policy;
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Owner', details.owner ?? 'not told'],
    ['Rows', <Count key="rows" value={details.rows} isHidden={isHidden} />],
    ['Size', <Bytes key="bytes" value={details.bytes} isHidden={isHidden} />],
    ['Files', <Count key="files" value={details.files} isHidden={isHidden} />],
    ['Format', `version ${details.format_version}`],
    ['Last change', details.changed_at === null ? 'never' : printTime(details.changed_at)],
    ['Protected', details.is_protected ? 'yes' : 'no'],
  ];
  return (
    <>
      {details.comment === null ? null : <p>{details.comment}</p>}
      <dl className="tiles" aria-label="At a glance">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function tableActions(path: ObjectPath, { actions, properties }: Details): readonly Action[] {
  const commit = refusalOf(actions, 'table.commit');
  const names = Object.keys(properties);
  return [
    {
      title: 'Comment',
      fields: [{ name: 'COMMENT', kind: 'text', optional: true, initial: properties['comment'] ?? '' }],
      make: ({ COMMENT = '' }) => commentOn('TABLE', path, COMMENT),
      refusal: commit,
    },
    {
      title: 'Rename',
      fields: [{ name: 'RENAME TO', kind: 'text', initial: path.name }],
      make: (values) => renameRelation('TABLE', path, values['RENAME TO'] ?? ''),
      leadsTo: (values) => addressOf(path.catalog, path.schema, values['RENAME TO'] ?? ''),
      refusal: refusalOf(actions, 'table.rename'),
    },
    {
      title: 'Set a property',
      fields: [
        { name: 'PROPERTY', kind: 'text' },
        { name: 'VALUE', kind: 'text' },
      ],
      make: ({ PROPERTY = '', VALUE = '' }) => setProperty(path, PROPERTY, VALUE),
      refusal: commit,
    },
    {
      title: 'Unset a property',
      fields: [{ name: 'PROPERTY', kind: 'choice', choices: names, initial: names[0] ?? '' }],
      make: ({ PROPERTY = '' }) => unsetProperty(path, PROPERTY),
      refusal: commit,
    },
    {
      title: 'Drop the table',
      fields: [],
      make: () => dropRelation('TABLE', path),
      danger: path.name,
      leadsTo: () => addressOf(path.catalog, path.schema),
      refusal: refusalOf(actions, 'table.drop'),
    },
  ];
}
