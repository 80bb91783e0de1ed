import { useRef, useState, type DragEvent, type ReactNode } from 'react';
import { printBytes } from '../app/print-figures.ts';
import { upload, type UploadProgress } from './upload.ts';

type Props = {
  readonly stage: string;
  /** The folder of the stage, with its slash; one file goes there, not several. */
  readonly folder?: string;
  /** The kinds of files that are offered. */
  readonly accept?: string;
  readonly refusal: string | undefined;
  /** Called with the path of each file that is there. */
  readonly onDone: (path: string) => void;
};

/** A place to drop files, which go into the stage one after another. */
export function UploadBox({ stage, folder, accept, refusal, onDone }: Props): ReactNode {
  const [progress, setProgress] = useState<(UploadProgress & { readonly name: string }) | null>(null);
  const [told, tell] = useState('');
  const [problem, complain] = useState('');
  const stop = useRef<AbortController>(null);
  const send = async (files: readonly File[]): Promise<void> => {
    complain('');
    const abort = new AbortController();
    stop.current = abort;
    for (const file of folder === undefined ? files : files.slice(0, 1)) {
      const path = `${folder ?? ''}${file.name}`;
      try {
        setProgress({ name: file.name, sent: 0, total: file.size, isWaiting: false });
        const onProgress = (now: UploadProgress): void => setProgress({ name: file.name, ...now });
        await upload(file, { stage, path, signal: abort.signal, onProgress });
        tell(`${file.name} is there`);
        onDone(path);
      } catch (error) {
        complain(abort.signal.aborted ? 'Stopped' : error instanceof Error ? error.message : String(error));
        break;
      }
    }
    setProgress(null);
  };
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    // One after another: what is dropped beside an upload would take its place on the page, and its button.
    if (progress !== null) complain('Wait until the upload is through, then drop the next files');
    else if (refusal === undefined) void send([...event.dataTransfer.files]);
  };
  return (
    <section className="drop" aria-label="Upload" onDragOver={(event) => event.preventDefault()} onDrop={onDrop}>
      <label>
        {folder === undefined ? 'Drop files here, or choose them' : 'Drop a file here, or choose it'}
        <input
          type="file"
          multiple={folder === undefined}
          {...(accept === undefined ? {} : { accept })}
          disabled={refusal !== undefined || progress !== null}
          onChange={({ target }) => {
            void send([...(target.files ?? [])]);
            target.value = '';
          }}
        />
      </label>
      {refusal === undefined ? null : <p className="quiet">{refusal}</p>}
      {progress === null ? null : (
        <p className="bar">
          <progress max={Math.max(1, progress.total)} value={progress.sent} aria-label={`Upload of ${progress.name}`} />
          {progress.isWaiting
            ? 'The connection was lost: it goes on when it is back'
            : `${printBytes(progress.sent)} of ${printBytes(progress.total)}`}
          <button type="button" onClick={() => stop.current?.abort()}>
            Stop
          </button>
        </p>
      )}
      <p role="status">{told}</p>
      {problem === '' ? null : <p role="alert">{problem}</p>}
    </section>
  );
}
