import { useId, useState, type ReactNode } from 'react';
import type { ObjectPath } from '../inspect/statements.ts';
import { StatementPanel } from '../statement/statement-panel.tsx';
import {
  copyInto,
  createTable,
  ON_ERROR,
  removeLoaded,
  unfit,
  type FileOptions,
  type LoadedColumn,
} from './load-statements.ts';

type Props = {
  readonly file: string;
  readonly options: FileOptions;
  readonly place: Pick<ObjectPath, 'catalog' | 'schema'>;
  readonly table: { readonly name: string; readonly columns: readonly string[] } | undefined;
  readonly proposed: readonly LoadedColumn[];
  readonly onLoaded: () => void;
};

/** Where the columns go, and the statements: make the table, look for bad records, load, and take the file away. */
export function LoadSteps({ file, options, place, table, proposed, onLoaded }: Props): ReactNode {
  const [columns, setColumns] = useState(proposed);
  const [name, setName] = useState('');
  const [onError, setOnError] = useState<string>(ON_ERROR[0]);
  const [isMade, setMade] = useState(table !== undefined);
  const problem = unfit(options, columns);
  const target = { ...place, name: table?.name ?? name };
  const isWhole = problem === undefined && target.name !== '';
  const load = { options, columns };
  return (
    <>
      <h4>Columns</h4>
      <Columns columns={columns} present={table?.columns} onChange={setColumns} />
      {problem === undefined ? null : <p role="alert">{problem}</p>}
      {table === undefined ? (
        <>
          <h4>Make the table</h4>
          <form onSubmit={(event) => event.preventDefault()}>
            <label>
              TABLE
              <input
                autoComplete="off"
                value={name}
                disabled={isMade}
                onChange={({ target: at }) => setName(at.value)}
              />
            </label>
          </form>
          <section aria-label="Make the table">
            <StatementPanel
              made={isWhole ? createTable(target, columns) : null}
              label="Make the table"
              refusal={isMade ? 'It is made.' : undefined}
              onDone={() => setMade(true)}
            />
          </section>
        </>
      ) : null}
      <h4>Look for bad records</h4>
      <section aria-label="Look for bad records">
        <StatementPanel
          made={isWhole && isMade ? copyInto(target, file, load, { validates: true }) : null}
          label="Validate"
        />
      </section>
      <h4>Load</h4>
      <form onSubmit={(event) => event.preventDefault()}>
        <label>
          ON_ERROR
          <select value={onError} onChange={({ target: at }) => setOnError(at.value)}>
            {ON_ERROR.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </form>
      <section aria-label="Load">
        <StatementPanel
          made={isWhole && isMade ? copyInto(target, file, load, { onError }) : null}
          label="Load"
          onDone={onLoaded}
        />
      </section>
      <h4>Take the file away</h4>
      <section aria-label="Take the file away">
        <StatementPanel made={removeLoaded(file)} label="Remove" />
      </section>
    </>
  );
}

type ColumnsProps = {
  readonly columns: readonly LoadedColumn[];
  readonly present: readonly string[] | undefined;
  readonly onChange: (columns: readonly LoadedColumn[]) => void;
};

/** A line for each column of the file. */
function Columns({ columns, present, onChange }: ColumnsProps): ReactNode {
  const types = useId();
  const set = (i: number, next: Partial<LoadedColumn>): void =>
    onChange(columns.map((column, j) => (i === j ? { ...column, ...next } : column)));
  return (
    <div className="scroll" role="region" aria-label="Columns of the file" tabIndex={0}>
      <datalist id={types}>
        {TYPES.map((type) => (
          <option key={type}>{type}</option>
        ))}
      </datalist>
      <table>
        <thead>
          <tr>
            {['Load', 'In the file', 'In the table', ...(present === undefined ? ['Type'] : [])].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {columns.map(({ file, to, type }, i) => (
            <tr key={file}>
              <td>
                <input
                  type="checkbox"
                  aria-label={`Load ${file}`}
                  checked={to !== null}
                  onChange={({ target }) => set(i, { to: target.checked ? (present?.[i] ?? file) : null })}
                />
              </td>
              <td className="text">{file}</td>
              <td>
                <Target column={{ file, to, type }} present={present} onChange={(name) => set(i, { to: name })} />
              </td>
              {present === undefined ? (
                <td>
                  <input
                    aria-label={`Type of ${file}`}
                    list={types}
                    autoComplete="off"
                    value={type}
                    disabled={to === null}
                    onChange={({ target }) => set(i, { type: target.value })}
                  />
                </td>
              ) : null}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type TargetProps = {
  readonly column: LoadedColumn;
  readonly present: readonly string[] | undefined;
  readonly onChange: (name: string | null) => void;
};

/** The column of the table: a new name, or one of those that are there. */
function Target({ column: { file, to }, present, onChange }: TargetProps): ReactNode {
  if (present === undefined) {
    return (
      <input
        aria-label={`Name of ${file}`}
        autoComplete="off"
        value={to ?? ''}
        disabled={to === null}
        onChange={({ target }) => onChange(target.value)}
      />
    );
  }
  return (
    <select
      aria-label={`Column for ${file}`}
      value={to ?? ''}
      onChange={({ target }) => onChange(target.value === '' ? null : target.value)}
    >
      <option value="">left out</option>
      {present.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  );
}

const TYPES = [
  'VARCHAR',
  'BIGINT',
  'INTEGER',
  'DOUBLE',
  'DECIMAL(18,2)',
  'BOOLEAN',
  'DATE',
  'TIME',
  'TIMESTAMP',
  'TIMESTAMPTZ',
  'UUID',
  'BINARY',
];
