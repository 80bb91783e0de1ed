import { Dialog } from '@base-ui/react/dialog';
import { useState, type ReactNode } from 'react';
import { CopyButton } from '../app/copy-button.tsx';
import type { Cell } from './grid-selection.ts';
import { indentNested } from './indent-nested.ts';
import type { ResultSet } from './result-set.ts';

type Props = { readonly result: ResultSet; readonly cell: Cell; readonly row: number; readonly onClose: () => void };

/** All of one value. */
export function CellInspector({ result, cell, row, onClose }: Props): ReactNode {
  const text = result.text(row, cell.column);
  const { name, type } = result.columns[cell.column] ?? { name: '', type: '' };
  const isNested = /\]$|^(?:STRUCT|MAP|UNION|JSON)/.test(type);
  const [isRaw, setRaw] = useState(false);
  const shown = text !== null && isNested && !isRaw ? indentNested(text) : text;
  return (
    <Dialog.Root open onOpenChange={(isOpen) => isOpen || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <Dialog.Title>{name}</Dialog.Title>
          <Dialog.Description className="quiet">
            {type} · row {(cell.row + 1).toLocaleString()}
            {text === null ? '' : ` · ${text.length.toLocaleString()} characters`}
          </Dialog.Description>
          <pre tabIndex={0} aria-label="Value" className={text === null ? 'null' : ''}>
            {shown ?? 'NULL'}
          </pre>
          <div className="bar">
            <CopyButton label="Copy the value" text={text ?? ''} />
            {isNested ? (
              <button type="button" onClick={() => setRaw(!isRaw)}>
                {isRaw ? 'In lines' : 'As it is'}
              </button>
            ) : null}
            <Dialog.Close>Close</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
