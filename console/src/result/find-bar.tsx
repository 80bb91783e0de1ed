import { useEffect, useRef, useState, type ReactNode } from 'react';
import { findText } from './find-text.ts';
import type { Cell } from './grid-selection.ts';
import type { ResultSet } from './result-set.ts';

type Props = {
  readonly result: ResultSet;
  readonly order: Uint32Array | null;
  readonly from: Cell;
  readonly onFound: (cell: Cell) => void;
  readonly onClose: () => void;
};

/** Looks for a text in the rows shown: Enter goes to the next cell that has it. */
export function FindBar({ result, order, from, onFound, onClose }: Props): ReactNode {
  const [told, tell] = useState('');
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const next = async (text: string): Promise<void> => {
    abort.current.abort();
    abort.current = new AbortController();
    const { signal } = abort.current;
    if (text === '') return;
    const found = await findText(result, { text, from, order, signal });
    if (signal.aborted) return;
    tell(found === null ? 'Not found' : `Row ${found.row + 1}`);
    if (found !== null) onFound(found);
  };
  return (
    <form
      role="search"
      className="bar tools"
      onSubmit={(event) => {
        event.preventDefault();
        const text = new FormData(event.currentTarget).get('text');
        void next(typeof text === 'string' ? text : '');
      }}
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
    >
      <input name="text" aria-label="Find in the result" placeholder="Find in the rows shown" autoFocus />
      <button type="submit">Next</button>
      <span role="status" className="quiet">
        {told}
      </span>
      <button type="button" onClick={onClose} aria-label="Close the search">
        ✕
      </button>
    </form>
  );
}
