import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { ApiError } from '../api/call.ts';
import { Problem } from '../app/problem.tsx';
import type { ObjectPath } from '../inspect/statements.ts';
import { UploadBox } from '../inspect/upload-box.tsx';
import type { StatementAnswer } from '../statement/made-statement.ts';
import { runStatement } from '../statement/run-statement.ts';
import { SmallTable } from '../statement/statement-panel.tsx';
import { FileOptionFields } from './file-option-fields.tsx';
import { LoadSteps } from './load-steps.tsx';
import {
  firstRowsOf,
  optionsByName,
  proposedTypes,
  sampleTypes,
  storedType,
  type FileOptions,
  type LoadedColumn,
} from './load-statements.ts';

type Props = {
  readonly catalog: string;
  readonly schema: string;
  /** The table that the file goes to; absent: a new one. */
  readonly table?: { readonly name: string; readonly columns: readonly string[] };
  readonly onLoaded: () => void;
  /** Why the reader may not make a table, or write into this one. */
  readonly refusal: string | undefined;
};

/** Loads a file into a table: it goes to the user's own stage, its first rows are shown, and COPY INTO takes it from there. */
export function LoadFile({ catalog, schema, table, onLoaded, refusal }: Props): ReactNode {
  // A file of one name that comes again is another one.
  const [folder] = useState(() => `loads/${crypto.randomUUID()}/`);
  const [file, setFile] = useState<string | null>(null);
  const [options, setOptions] = useState<FileOptions>(() => optionsByName(''));
  return (
    <section className="form" aria-label="Load a file">
      <h3>Load a file {table === undefined ? 'into a new table' : `into ${table.name}`}</h3>
      <UploadBox
        stage="~"
        folder={folder}
        accept=".csv,.tsv,.txt,.json,.ndjson,.jsonl,.parquet,.gz,.zst"
        refusal={refusal}
        onDone={(path) => {
          setOptions(optionsByName(path));
          setFile(path);
        }}
      />
      {file === null ? null : (
        <>
          <FileOptionFields options={options} onChange={setOptions} />
          <Loaded
            key={JSON.stringify([file, options])}
            file={file}
            options={options}
            place={{ catalog, schema }}
            table={table}
            onLoaded={onLoaded}
          />
        </>
      )}
    </section>
  );
}

type LoadedProps = {
  readonly file: string;
  readonly options: FileOptions;
  readonly place: Pick<ObjectPath, 'catalog' | 'schema'>;
  readonly table: Props['table'];
  readonly onLoaded: () => void;
};

/** The first rows, and the steps from them on. */
function Loaded({ file, options, place, table, onLoaded }: LoadedProps): ReactNode {
  const made = firstRowsOf(file, options);
  const { data, error, isPending } = useQuery<Look, ApiError>({
    queryKey: ['load', file, options],
    queryFn: () => look(file, options, table?.columns),
    staleTime: Infinity,
  });
  return (
    <>
      <h4>The first rows</h4>
      <pre aria-label="Statement" tabIndex={0}>
        {made.sql}
      </pre>
      {isPending ? <p role="status">Loading …</p> : null}
      {error === null ? null : <Problem error={error} />}
      {data === undefined ? null : (
        <>
          <SmallTable label="First rows" columns={data.first.columns} rows={data.first.rows} />
          <LoadSteps
            file={file}
            options={options}
            place={place}
            table={table}
            proposed={data.columns}
            onLoaded={onLoaded}
          />
        </>
      )}
    </>
  );
}

type Look = { readonly first: StatementAnswer; readonly columns: readonly LoadedColumn[] };

/** Reads the first rows, and proposes columns: those of CSV, which are text, by casts over a sample. */
async function look(file: string, options: FileOptions, present: readonly string[] | undefined): Promise<Look> {
  const first = await runStatement(firstRowsOf(file, options));
  const { columns: names, types } = first;
  const found =
    options.type === 'CSV'
      ? proposedTypes(await runStatement(sampleTypes(file, options, names)))
      : types.map(storedType);
  const columns = names.map((name, i) => ({
    file: name,
    to: present === undefined ? ownName(name) : (matching(present, name) ?? byPlace(options, present, i)),
    type: found[i] ?? 'VARCHAR',
  }));
  return { first, columns };
}

/** `$1`, as a column without a header is called, is a parameter elsewhere. */
const ownName = (name: string): string => name.replace(/^\$(\d+)$/, 'column_$1');

const matching = (present: readonly string[], name: string): string | undefined =>
  present.find((one) => one.toLowerCase() === name.toLowerCase());

const byPlace = ({ type, hasHeader }: FileOptions, present: readonly string[], i: number): string | null =>
  type === 'CSV' && !hasHeader ? (present[i] ?? null) : null;
