import { useState, type ReactNode } from 'react';
import { ActionForm, Actions } from '../statement/action-form.tsx';
import { refusalOf } from './may.ts';
import { RowsTab } from './rows-tab.tsx';
import {
  addColumn,
  columnStatistics,
  commentOnColumn,
  dropColumn,
  renameColumn,
  type ObjectPath,
} from './statements.ts';
import type { Column, Details } from './table-answers.ts';

type Props = { readonly path: ObjectPath; readonly details: Details; readonly onChanged: () => void };

/** The columns with the parts of nested ones, partitions, sort order and properties. */
export function ColumnsTab({ path, details, onChanged }: Props): ReactNode {
  const [chosen, choose] = useState<{ readonly column: Column; readonly what: 'edit' | 'statistics' } | null>(null);
  const byId = new Map(details.columns.map((column) => [column.id, column]));
  const namesOf = (column: Column): readonly string[] => {
    const parent = column.parent_id === null ? undefined : byId.get(column.parent_id);
    return parent === undefined ? [column.name] : [...namesOf(parent), column.name];
  };
  return (
    <>
      <div className="scroll" role="region" aria-label="Columns" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {['Column', 'Type', 'May be NULL', 'Key', 'Default', 'Comment', 'Id', ''].map((title) => (
                <th key={title} scope="col">
                  {title === '' ? <span className="hidden">Actions</span> : title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {details.columns.map((column) => (
              <ColumnRow
                key={column.id}
                column={column}
                depth={namesOf(column).length}
                onChoose={(what) => choose({ column, what })}
              />
            ))}
          </tbody>
        </table>
      </div>
      {details.columns_total > details.columns.length ? (
        <p className="quiet">
          {details.columns.length} of {details.columns_total} columns and parts are shown.
        </p>
      ) : null}
      {chosen?.what === 'edit' ? (
        <Edit
          key={chosen.column.id}
          path={path}
          column={chosen.column}
          names={namesOf(chosen.column)}
          details={details}
          onChanged={onChanged}
        />
      ) : null}
      {chosen?.what === 'statistics' ? (
        <RowsTab made={columnStatistics(path, chosen.column.name)} label={`Statistics of ${chosen.column.name}`} />
      ) : null}
      <Layout details={details} />
      <Actions
        onDone={onChanged}
        actions={[
          {
            title: 'Add a column',
            fields: [
              { name: 'NAME', kind: 'text' },
              { name: 'TYPE', kind: 'text', initial: 'VARCHAR' },
              { name: 'COMMENT', kind: 'text', optional: true },
            ],
            make: ({ NAME = '', TYPE = '', COMMENT = '' }) => addColumn(path, NAME, TYPE, COMMENT),
            refusal: refusalOf(details.actions, 'table.commit'),
          },
        ]}
      />
    </>
  );
}

type RowProps = {
  readonly column: Column;
  readonly depth: number;
  readonly onChoose: (what: 'edit' | 'statistics') => void;
};

function ColumnRow({ column, depth, onChoose }: RowProps): ReactNode {
  return (
    <tr>
      <td style={{ paddingLeft: `${depth * 0.9}rem` }}>{column.name}</td>
      <td className="text">{column.type}</td>
      <td>{column.nullable ? 'yes' : 'no'}</td>
      <td>{column.is_key ? 'yes' : ''}</td>
      <td className="text">{column.default}</td>
      <td className="text">{column.comment}</td>
      <td className="number">{column.id}</td>
      <td>
        <button type="button" onClick={() => onChoose('edit')}>
          Edit
        </button>{' '}
        {column.parent_id === null ? (
          <button type="button" onClick={() => onChoose('statistics')}>
            Statistics
          </button>
        ) : null}
      </td>
    </tr>
  );
}

type EditProps = Props & { readonly column: Column; readonly names: readonly string[] };

function Edit({ path, column, names, details, onChanged }: EditProps): ReactNode {
  const refusal = refusalOf(details.actions, 'table.commit');
  return (
    <>
      <ActionForm
        onDone={onChanged}
        action={{
          title: `Comment on ${names.join('.')}`,
          fields: [{ name: 'COMMENT', kind: 'text', optional: true, initial: column.comment ?? '' }],
          make: ({ COMMENT = '' }) => commentOnColumn(path, names, COMMENT),
          refusal,
        }}
      />
      <Actions
        onDone={onChanged}
        actions={[
          {
            title: `Rename ${names.join('.')}`,
            fields: [{ name: 'RENAME TO', kind: 'text', initial: column.name }],
            make: (values) => renameColumn(path, names, values['RENAME TO'] ?? ''),
            refusal,
          },
          {
            title: `Drop ${names.join('.')}`,
            fields: [],
            make: () => dropColumn(path, names),
            danger: column.name,
            refusal,
          },
        ]}
      />
    </>
  );
}

function Layout({ details }: { readonly details: Details }): ReactNode {
  const { partition_expressions: partition, sort, properties } = details;
  return (
    <>
      <h2>Partitions and order</h2>
      <p>
        {partition.length === 0 ? 'Not partitioned' : `Partitioned by ${partition.join(', ')}`}.{' '}
        {sort.length === 0
          ? 'No sort order.'
          : `Sorted by ${sort.map(({ column, direction, nulls }) => `${column} ${direction}, NULL ${nulls}`).join('; ')}.`}
      </p>
      <h2>Properties</h2>
      <dl className="facts">
        {Object.entries(properties).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
