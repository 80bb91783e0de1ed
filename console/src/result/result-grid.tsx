import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react';
import { isNumber } from './chart-choice.ts';
import { cellAt, isWithin, moved, type Selection } from './grid-selection.ts';
import type { ResultSet } from './result-set.ts';

export type Sort = { readonly column: number; readonly descending: boolean };

type Props = {
  readonly result: ResultSet;
  readonly rowCount: number;
  /** The rows in the order in which they are shown; null: as they came. */
  readonly order: Uint32Array | null;
  readonly sort: Sort | null;
  readonly selection: Selection;
  readonly onSelect: (selection: Selection) => void;
  readonly onSort: (column: number) => void;
  readonly onInspect: () => void;
  readonly onCopy: () => void;
  readonly onFind: () => void;
};

const ROW_PX = 28;
const NUMBER_PX = 56;
const OVERSCAN = 8;
/** Rows by which the widths of columns are chosen. */
const WIDTH_ROWS = 50;
const CHAR_PX = 8;
const [WIDTH_MIN, WIDTH_MAX] = [72, 360];

/** Rows of a result; only cells in sight are in the page. */
export function ResultGrid(props: Props): ReactNode {
  const { result, rowCount, selection } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const widths = useMemo(() => widthsOf(result, rowCount), [result, rowCount > 0]);
  const rows = useVirtualizer({
    count: rowCount,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    scrollPaddingStart: ROW_PX,
  });
  const columns = useVirtualizer({
    horizontal: true,
    count: result.columns.length,
    getScrollElement: () => scroller.current,
    estimateSize: (i) => widths[i] ?? WIDTH_MIN,
    overscan: 2,
    paddingStart: NUMBER_PX,
    scrollPaddingStart: NUMBER_PX,
  });
  useEffect(() => columns.measure(), [widths]);
  const { row, column } = selection.focus;
  useEffect(() => {
    if (row < rowCount) rows.scrollToIndex(row);
    columns.scrollToIndex(column);
  }, [row, column]);
  const onKeyDown = useKeys(props, rows);
  const width = columns.getTotalSize();
  return (
    <div
      ref={scroller}
      className="grid"
      role="grid"
      aria-label="Result"
      aria-rowcount={rowCount + 1}
      aria-colcount={result.columns.length}
      aria-activedescendant={rowCount > 0 ? `cell-${row}-${column}` : undefined}
      aria-multiselectable="true"
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className="grid-head" style={{ width }}>
        <HeadRow {...props} columns={columns} />
      </div>
      <div role="rowgroup" style={{ height: rows.getTotalSize(), width, position: 'relative' }}>
        {rows.getVirtualItems().map(({ index, start }) => (
          <Row key={index} {...props} index={index} start={start} columns={columns} />
        ))}
      </div>
    </div>
  );
}

type Columns = { readonly columns: Virtualizer<HTMLDivElement, Element> };

function HeadRow({ result, sort, onSort, columns }: Props & Columns): ReactNode {
  return (
    <div role="row" aria-rowindex={1} className="grid-row">
      {columns.getVirtualItems().map(({ index, start, size }) => {
        const { name, type } = result.columns[index] ?? { name: '', type: '' };
        const isSorted = sort?.column === index;
        const order = isSorted ? (sort.descending ? 'descending' : 'ascending') : 'none';
        return (
          <div
            key={index}
            role="columnheader"
            aria-colindex={index + 1}
            aria-sort={order}
            style={{ left: start, width: size }}
          >
            <button type="button" className="head" title={`${name} ${type}`} onClick={() => onSort(index)}>
              {name} <small>{type}</small>
              {isSorted ? <span aria-hidden="true">{sort.descending ? ' ▼' : ' ▲'}</span> : null}
            </button>
          </div>
        );
      })}
    </div>
  );
}

type RowProps = Props & Columns & { readonly index: number; readonly start: number };

function Row({ result, order, selection, onSelect, onInspect, index, start, columns }: RowProps): ReactNode {
  const row = order?.[index] ?? index;
  const select = (event: MouseEvent, column: number): void => {
    const focus = { row: index, column };
    onSelect(event.shiftKey ? { ...selection, focus } : cellAt(index, column));
  };
  return (
    <div role="row" aria-rowindex={index + 2} className="grid-row" style={{ transform: `translateY(${start}px)` }}>
      <span className="row-number" aria-hidden="true">
        {index + 1}
      </span>
      {columns.getVirtualItems().map(({ index: column, start: left, size: width }) => {
        const text = result.text(row, column);
        const isFocus = selection.focus.row === index && selection.focus.column === column;
        const kinds = [
          text === null ? 'null' : '',
          isNumber(result.columns[column]?.type ?? '') ? 'number' : '',
          isFocus ? 'focus' : '',
        ];
        return (
          <div
            key={column}
            id={`cell-${index}-${column}`}
            role="gridcell"
            aria-colindex={column + 1}
            aria-selected={isWithin(selection, index, column)}
            className={kinds.filter((kind) => kind !== '').join(' ')}
            style={{ left, width }}
            onMouseDown={(event) => select(event, column)}
            onMouseEnter={(event) => event.buttons === 1 && onSelect({ ...selection, focus: { row: index, column } })}
            onDoubleClick={onInspect}
          >
            {text === null ? 'NULL' : text.slice(0, CELL_CHARS_MAX)}
          </div>
        );
      })}
    </div>
  );
}

/** Characters of a cell in the grid; the inspector shows all. */
const CELL_CHARS_MAX = 300;

function useKeys(props: Props, rows: Virtualizer<HTMLDivElement, Element>): (event: KeyboardEvent) => void {
  return (event) => {
    const { target, currentTarget } = event;
    if (target !== currentTarget) return;
    const isCommand = event.ctrlKey || event.metaKey;
    const page = Math.max(1, Math.floor((rows.scrollRect?.height ?? 0) / ROW_PX) - 2);
    const extent = { rows: props.rowCount, columns: props.result.columns.length, page };
    const next = props.rowCount === 0 ? undefined : moved(props.selection, event, extent);
    if (next !== undefined) props.onSelect(next);
    else if (event.key === 'Enter' || event.key === ' ') props.onInspect();
    else if (isCommand && event.key.toLowerCase() === 'c') props.onCopy();
    else if (isCommand && event.key.toLowerCase() === 'f') props.onFind();
    else return;
    event.preventDefault();
  };
}

function widthsOf(result: ResultSet, rowCount: number): readonly number[] {
  const rows = Math.min(rowCount, result.rowCount, WIDTH_ROWS);
  return result.columns.map(({ name, type }, column) => {
    let chars = name.length + Math.min(type.length, 16) + 2;
    for (let row = 0; row < rows; row += 1) chars = Math.max(chars, result.text(row, column)?.length ?? 0);
    return Math.max(WIDTH_MIN, Math.min(WIDTH_MAX, chars * CHAR_PX + 20));
  });
}
