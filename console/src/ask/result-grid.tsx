import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, type ReactNode } from 'react';

/** The answer of `POST /api/query`: values are texts and numbers, as the server prints them. */
export type Rows = {
  readonly columns: readonly string[];
  readonly types: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly row_count: number;
  readonly elapsed_ms: number;
};

const ROW_PX = 28;
const OVERSCAN = 12;

/** Rows of a result; only those in sight are in the page. */
export function ResultGrid({ result }: { readonly result: Rows }): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: result.rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
  });
  const columns = `repeat(${result.columns.length}, minmax(9rem, 1fr))`;
  return (
    <div
      ref={scroller}
      className="grid"
      role="grid"
      aria-label="Result"
      aria-rowcount={result.rows.length + 1}
      tabIndex={0}
    >
      <div className="grid-row head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: columns }}>
        {result.columns.map((name, i) => (
          <div key={i} role="columnheader" title={`${name} ${result.types[i] ?? ''}`}>
            {name} <small className="quiet">{result.types[i]}</small>
          </div>
        ))}
      </div>
      <div role="rowgroup" style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {rows.getVirtualItems().map(({ index, start }) => (
          <div
            key={index}
            role="row"
            aria-rowindex={index + 2}
            className="grid-row"
            style={{ gridTemplateColumns: columns, transform: `translateY(${start}px)` }}
          >
            {result.rows[index]?.map((value, i) => (
              <div key={i} role="gridcell" className={value === null ? 'null' : undefined}>
                {printValue(value)}
              </div>
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

/** The text of a value: what the server has printed stays as it is. */
function printValue(value: unknown): string {
  if (value === null) return 'NULL';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
