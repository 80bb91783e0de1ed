import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { ApiError } from '../api/call.ts';
import type { WhoamiEntry as Whoami } from '#coordinator/api/http/api-types.ts';
import { Problem } from '../app/problem.tsx';
import { printBytes } from '../app/print-figures.ts';
import { ActionForm, Actions, type Action } from '../statement/action-form.tsx';
import { cellText } from '../statement/cell-text.ts';
import type { StatementAnswer } from '../statement/made-statement.ts';
import { runStatement } from '../statement/run-statement.ts';
import { addressOf } from './catalog-place.ts';
import { Crumbs } from './crumbs.tsx';
import { download, stageNameOf } from './stage-files.ts';
import { refusalOf } from './may.ts';
import { dropStage, listFiles, removeFile, renameStage, type ObjectPath } from './statements.ts';
import { UploadBox } from './upload-box.tsx';

type Props = { readonly path: ObjectPath; readonly me: Whoami };

/** A stage: its files, which come by drag, are downloaded and removed. */
export function StagePage({ path, me }: Props): ReactNode {
  const [chosen, choose] = useState<string | null>(null);
  const [problem, tell] = useState('');
  const { data, error, isPending, refetch } = useQuery<StatementAnswer, ApiError>({
    queryKey: ['stage', path],
    queryFn: () => runStatement(listFiles(path)),
  });
  if (error?.code === 'STAGE_NOT_FOUND') return <NoObject path={path} />;
  return (
    <>
      <Crumbs {...path} kind="stage" />
      <pre aria-label="Statement" tabIndex={0}>
        {listFiles(path).sql}
      </pre>
      {isPending ? <p role="status">Loading …</p> : null}
      {error === null ? null : <Problem error={error} />}
      {problem === '' ? null : <p role="alert">{problem}</p>}
      {data === undefined ? null : (
        <Files
          rows={data.rows.map((row) => row.map((value) => (value === null ? '' : cellText(value))))}
          onRemove={choose}
          onDownload={(file) => void download(path, file).catch((thrown: unknown) => tell(String(thrown)))}
        />
      )}
      {chosen === null ? null : (
        <ActionForm
          key={chosen}
          onDone={() => {
            choose(null);
            void refetch();
          }}
          action={{
            title: `Remove ${chosen}`,
            fields: [],
            make: () => removeFile(path, chosen),
            danger: chosen,
            refusal: refusalOf(me.actions, 'stage.write'),
          }}
        />
      )}
      <UploadBox
        stage={stageNameOf(path)}
        refusal={refusalOf(me.actions, 'stage.write')}
        onDone={() => void refetch()}
      />
      <Actions actions={stageActions(path, me)} />
    </>
  );
}

function NoObject({ path }: Pick<Props, 'path'>): ReactNode {
  return (
    <>
      <Crumbs {...path} kind="" />
      <p role="alert">
        There is no table, view or stage of this name: it may have been dropped or renamed, or you have no right to see
        it.
      </p>
    </>
  );
}

const stageActions = (path: ObjectPath, me: Whoami): readonly Action[] => [
  {
    title: 'Rename',
    fields: [{ name: 'RENAME TO', kind: 'text', initial: path.name }],
    make: (values) => renameStage(path, values['RENAME TO'] ?? ''),
    refusal: refusalOf(me.actions, 'stage.rename'),
    leadsTo: (values) => addressOf(path.catalog, path.schema, values['RENAME TO'] ?? '', 'Stage'),
  },
  {
    title: 'Drop the stage',
    fields: [],
    make: () => dropStage(path),
    danger: path.name,
    refusal: refusalOf(me.actions, 'stage.drop'),
    leadsTo: () => addressOf(path.catalog, path.schema),
  },
];

type FilesProps = {
  readonly rows: readonly (readonly string[])[];
  readonly onRemove: (file: string) => void;
  readonly onDownload: (file: string) => void;
};

function Files({ rows, onRemove, onDownload }: FilesProps): ReactNode {
  if (rows.length === 0) return <p className="quiet">No file is here yet.</p>;
  return (
    <div className="scroll" role="region" aria-label="Files of the stage" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {['File', 'Size', 'Changed', ''].map((title) => (
              <th key={title} scope="col">
                {title === '' ? <span className="hidden">Actions</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name = '', size = '', , changed = '']) => (
            <tr key={name}>
              <td className="text">{name}</td>
              <td className="number">{printBytes(Number(size))}</td>
              <td>{changed}</td>
              <td>
                <button type="button" onClick={() => onDownload(name)}>
                  Download
                </button>{' '}
                <button type="button" onClick={() => onRemove(name)}>
                  Remove
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
