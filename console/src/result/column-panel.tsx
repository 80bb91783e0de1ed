import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { ColumnFacts } from './column-facts.ts';
import type { ColumnAnswer, ColumnRequest } from './column-worker.ts';
import type { Sort } from './result-grid.tsx';
import { STILL_COMING, type ResultSet } from './result-set.ts';

type Props = {
  readonly result: ResultSet;
  /** All rows that are shown have come. */
  readonly isWhole: boolean;
  readonly column: number;
  readonly onSort: (sort: Sort) => void;
  readonly onClose: () => void;
};

/** The values of a column, of the rows shown. */
export function ColumnPanel({ result, isWhole, column, onSort, onClose }: Props): ReactNode {
  const facts = useFacts(isWhole ? result : null, column);
  const { name, type } = result.columns[column] ?? { name: '', type: '' };
  return (
    <aside className="side" aria-label="Column">
      <header className="bar">
        <strong className="grow">{name}</strong>
        <button type="button" onClick={onClose} aria-label="Close the column">
          ✕
        </button>
      </header>
      <p className="quiet">{type} · of the rows shown</p>
      {facts === null ? <p role="status">{isWhole ? 'Counting …' : STILL_COMING}</p> : <Facts facts={facts} />}
      <p className="bar">
        <button type="button" onClick={() => onSort({ column, descending: false })}>
          Sort up
        </button>
        <button type="button" onClick={() => onSort({ column, descending: true })}>
          Sort down
        </button>
      </p>
    </aside>
  );
}

function Facts({ facts }: { readonly facts: ColumnFacts }): ReactNode {
  const most = Math.max(1, ...facts.bars.map(({ count }) => count));
  return (
    <>
      <dl className="facts">
        <dt>Rows</dt>
        <dd>{facts.rows.toLocaleString()}</dd>
        <dt>NULL</dt>
        <dd>{facts.nulls.toLocaleString()}</dd>
        <dt>Distinct</dt>
        <dd>
          {facts.isDistinctCut ? 'at least ' : ''}
          {facts.distinct.toLocaleString()}
        </dd>
        <dt>Smallest</dt>
        <dd>{facts.smallest ?? '–'}</dd>
        <dt>Largest</dt>
        <dd>{facts.largest ?? '–'}</dd>
      </dl>
      <ul className="bars" aria-label="Values">
        {facts.bars.map(({ label, count }, at) => (
          <li key={at}>
            <span className="label">{label}</span>
            <span className="quiet">{count.toLocaleString()}</span>
            <meter min={0} max={most} value={count} aria-hidden="true" />
          </li>
        ))}
      </ul>
    </>
  );
}

/** A worker has no origin to name, as a window has. */
const tell = (worker: Worker, request: ColumnRequest): void => worker.postMessage(request, []);

/** The worker lives as long as the panel shows this result. @param result null: its rows are still coming */
function useFacts(result: ResultSet | null, column: number): ColumnFacts | null {
  const [answer, setAnswer] = useState<ColumnAnswer | null>(null);
  const worker = useRef<Worker>(null);
  useEffect(() => {
    if (result === null) return undefined;
    const made = new Worker(new URL('column-worker.ts', import.meta.url), { type: 'module' });
    worker.current = made;
    made.addEventListener('message', ({ data }: MessageEvent<ColumnAnswer>) => setAnswer(data));
    tell(made, { kind: 'rows', messages: result.messages, rowCount: result.rowCount });
    return () => {
      worker.current = null;
      made.terminate();
    };
  }, [result]);
  useEffect(() => {
    if (worker.current !== null) tell(worker.current, { kind: 'column', column });
  }, [result, column]);
  return answer?.column === column ? answer.facts : null;
}
