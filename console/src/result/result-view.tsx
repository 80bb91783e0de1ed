import { useMemo, useRef, useState, type ReactNode } from 'react';
import type { Outcome } from '../runs/outcome.ts';
import type { RowOrder } from '../tabs/tab-record.ts';
import { copyText } from '../app/copy-button.tsx';
import { CellInspector } from './cell-inspector.tsx';
import { ChartPanel } from './chart-panel.tsx';
import type { ChartChoice } from './chart-choice.ts';
import { ColumnPanel } from './column-panel.tsx';
import { clipboardText } from './copy-text.ts';
import { FindBar } from './find-bar.tsx';
import { cellAt, type Selection } from './grid-selection.ts';
import { orderOf } from './order-values.ts';
import { ResultGrid, type Sort } from './result-grid.tsx';
import type { ResultSet } from './result-set.ts';
import { sortRows } from './sort-rows.ts';

type Props = {
  readonly outcome: Outcome;
  /** Runs the statement again, for the first rows in another order. */
  readonly onSortAll: (order: RowOrder) => void;
  readonly panel: 'none' | 'chart' | 'column';
  readonly onPanel: (panel: 'none' | 'chart' | 'column') => void;
  readonly chart: ChartChoice | null;
  readonly onChart: (chart: ChartChoice) => void;
};

/** Cells that one copy takes. */
const COPY_CELLS_MAX = 2_000_000;

/** The rows of a statement with all that a person does with them. */
export function ResultView({ outcome, onSortAll, panel, onPanel, chart, onChart }: Props): ReactNode {
  const { result, rowCount } = outcome;
  const isWhole = outcome.state !== 'running';
  const [selection, select] = useState<Selection>(cellAt(0, 0));
  const [isInspecting, inspect] = useState(false);
  const [isFinding, find] = useState(false);
  const [told, tell] = useState(outcome.note);
  const frame = useRef<HTMLDivElement>(null);
  const { order, shownSort, sortBy, turn } = useSorting(outcome, onSortAll, tell);
  const copy = (): void => void copyRange(result, order, selection).then(tell);
  const focusGrid = (): void => frame.current?.querySelector<HTMLElement>('[role=grid]')?.focus();
  return (
    <div className={`result ${panel === 'none' ? '' : 'beside'}`} ref={frame}>
      <div className="result-main">
        <ViewTools
          isFinding={isFinding}
          hasColumn={panel === 'column'}
          isEmpty={rowCount === 0}
          told={told}
          onCopy={copy}
          onFind={() => find(!isFinding)}
          onColumn={() => onPanel(panel === 'column' ? 'none' : 'column')}
          onCell={() => inspect(true)}
        />
        {isFinding ? (
          <FindBar
            result={result}
            order={order}
            from={selection.focus}
            onFound={({ row, column }) => select(cellAt(row, column))}
            onClose={() => {
              find(false);
              focusGrid();
            }}
          />
        ) : null}
        <ResultGrid
          result={result}
          rowCount={rowCount}
          order={order}
          sort={shownSort}
          selection={selection}
          onSelect={select}
          onSort={turn}
          onInspect={() => inspect(true)}
          onCopy={copy}
          onFind={() => find(true)}
        />
      </div>
      {panel === 'chart' ? <ChartPanel result={result} isWhole={isWhole} choice={chart} onChoose={onChart} /> : null}
      {panel === 'column' ? (
        <ColumnPanel
          result={result}
          isWhole={isWhole}
          column={selection.focus.column}
          onSort={sortBy}
          onClose={() => onPanel('none')}
        />
      ) : null}
      {isInspecting ? (
        <CellInspector
          result={result}
          cell={selection.focus}
          row={order?.[selection.focus.row] ?? selection.focus.row}
          onClose={() => inspect(false)}
        />
      ) : null}
    </div>
  );
}

type Sorting = {
  /** The rows in the order in which they are shown; null: as they came. */
  readonly order: Uint32Array | null;
  readonly shownSort: Sort | null;
  readonly sortBy: (sort: Sort) => void;
  readonly turn: (column: number) => void;
};

/** Rows that are all here are sorted here, others by the server. */
function useSorting(outcome: Outcome, onSortAll: Props['onSortAll'], tell: (text: string) => void): Sorting {
  const { result, isCut } = outcome;
  const [sort, setSort] = useState<Sort | null>(null);
  const order = useMemo(() => {
    const read = sort === null ? null : orderOf(result.columns[sort.column]?.type ?? '');
    return sort === null || read === null ? null : sortRows(result, { ...sort, read });
  }, [result, sort]);
  const sortBy = (next: Sort): void => {
    if (outcome.state === 'running') return;
    // A sorted part would look like the whole: the server sorts all rows, and gives the first of them.
    if (isCut) sortAll(next);
    else if (orderOf(result.columns[next.column]?.type ?? '') === null) tell('Only ORDER BY sorts values of this type');
    else setSort(next);
  };
  const sortAll = ({ column, descending }: Sort): void => {
    const named = result.columns[column];
    if (named !== undefined) onSortAll({ column: named.name, descending });
  };
  const shownSort = sort ?? sortOf(outcome);
  const turn = (column: number): void =>
    sortBy({ column, descending: shownSort?.column === column && !shownSort.descending });
  return { order, shownSort, sortBy, turn };
}

type ToolsProps = {
  readonly isFinding: boolean;
  readonly hasColumn: boolean;
  readonly isEmpty: boolean;
  readonly told: string;
  readonly onCopy: () => void;
  readonly onFind: () => void;
  readonly onColumn: () => void;
  readonly onCell: () => void;
};

function ViewTools(props: ToolsProps): ReactNode {
  const { isFinding, hasColumn, isEmpty, told, onCopy, onFind, onColumn, onCell } = props;
  return (
    <div className="bar tools">
      <button type="button" onClick={onCopy}>
        Copy
      </button>
      <button type="button" onClick={onFind} aria-pressed={isFinding}>
        Find
      </button>
      <button type="button" onClick={onColumn} aria-pressed={hasColumn}>
        Column
      </button>
      <button type="button" onClick={onCell} disabled={isEmpty}>
        Cell
      </button>
      <span role="status" className="quiet">
        {told}
      </span>
    </div>
  );
}

/** The column by which the server has sorted. */
function sortOf({ order, result }: Outcome): Sort | null {
  const column = order === null ? -1 : result.columns.findIndex(({ name }) => name === order.column);
  return order === null || column < 0 ? null : { column, descending: order.descending };
}

async function copyRange(result: ResultSet, order: Uint32Array | null, { anchor, focus }: Selection): Promise<string> {
  const [top, bottom] = [Math.min(anchor.row, focus.row), Math.max(anchor.row, focus.row)];
  const [left, right] = [Math.min(anchor.column, focus.column), Math.max(anchor.column, focus.column)];
  const [rows, columns] = [bottom - top + 1, right - left + 1];
  if (rows * columns > COPY_CELLS_MAX) return 'Too many cells to copy: export them';
  const places = Array.from({ length: columns }, (_, i) => left + i);
  const lines = Array.from({ length: rows }, (_, i) =>
    places.map((column) => result.text(order?.[top + i] ?? top + i, column)),
  );
  const text = clipboardText(
    places.map((i) => result.columns[i]?.name ?? ''),
    lines,
  );
  return copyText(text, `Copied ${rows} × ${columns} with headers`);
}
