import { useEffect, useRef, useState, type ReactNode } from 'react';
import { CHART_KINDS, isNumber, proposeChart, type ChartChoice, type ChartKind } from './chart-choice.ts';
import { saveFile } from './export-rows.ts';
import type { Drawn } from './draw-chart.ts';
import { STILL_COMING, type ResultSet } from './result-set.ts';

type Props = {
  readonly result: ResultSet;
  /** All rows that are shown have come. */
  readonly isWhole: boolean;
  readonly choice: ChartChoice | null;
  readonly onChoose: (choice: ChartChoice) => void;
};

/** A chart of the rows shown, beside them. */
export function ChartPanel({ result, isWhole, choice, onChoose }: Props): ReactNode {
  const chosen = fitting(choice, result) ?? proposeChart(result.columns);
  const drawing = useRef<Pick<Drawn, 'png'> | null>(null);
  if (chosen === null) {
    return (
      <aside className="side chart" aria-label="Chart">
        <p className="quiet">No column of this result is a number: there is nothing to draw.</p>
      </aside>
    );
  }
  const numbers = result.columns.flatMap(({ type }, i) => (isNumber(type) ? [i] : []));
  const nameOf = (i: number): string => result.columns[i]?.name ?? '';
  const savePng = async (): Promise<void> => {
    const png = await drawing.current?.png();
    if (png !== undefined) saveFile(png, 'chart.png');
  };
  return (
    <aside className="side chart" aria-label="Chart">
      <div className="bar">
        <select
          aria-label="Kind of chart"
          value={chosen.kind}
          onChange={({ target }) => onChoose({ ...chosen, kind: target.value as ChartKind })}
        >
          {CHART_KINDS.map((kind) => (
            <option key={kind}>{kind}</option>
          ))}
        </select>
        <select
          aria-label="Across"
          value={chosen.x}
          onChange={({ target }) => onChoose({ ...chosen, x: Number(target.value) })}
        >
          {result.columns.map((_, i) => (
            <option key={i} value={i}>
              {nameOf(i)}
            </option>
          ))}
        </select>
        <select
          aria-label="Up"
          value={chosen.y[0] ?? 0}
          onChange={({ target }) => onChoose({ ...chosen, y: [Number(target.value)] })}
        >
          {numbers.map((i) => (
            <option key={i} value={i}>
              {nameOf(i)}
            </option>
          ))}
        </select>
        <button type="button" onClick={() => void savePng()}>
          PNG
        </button>
      </div>
      {isWhole ? (
        <Drawing
          result={result}
          choice={chosen}
          onDrawn={(drawn) => {
            drawing.current = drawn;
          }}
        />
      ) : (
        <p role="status">{STILL_COMING}</p>
      )}
    </aside>
  );
}

type DrawingProps = {
  readonly result: ResultSet;
  readonly choice: ChartChoice;
  readonly onDrawn: (drawn: Pick<Drawn, 'png'> | null) => void;
};

/** The library is loaded when the first chart is wanted. */
function Drawing({ result, choice, onDrawn }: DrawingProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const [told, setTold] = useState('Drawing …');
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let end = (): void => undefined;
    let isOver = false;
    const draw = async (): Promise<void> => {
      const { drawChart } = await import('./draw-chart.ts');
      if (isOver) return;
      const drawn = drawChart(element, result, choice);
      setTold(drawn.told);
      onDrawn(drawn);
      end = drawn.end;
    };
    void draw();
    return () => {
      isOver = true;
      onDrawn(null);
      end();
    };
  }, [result, choice]);
  const label = `${choice.kind} chart of ${choice.y.map((i) => result.columns[i]?.name ?? '').join(', ')}`;
  return (
    <>
      <div ref={place} className="drawing" role="img" aria-label={label} />
      <p className="quiet">{told}</p>
    </>
  );
}

/** The choice, when this result has its columns. */
function fitting(choice: ChartChoice | null, { columns }: ResultSet): ChartChoice | null {
  if (choice === null || choice.x >= columns.length) return null;
  return choice.y.every((i) => isNumber(columns[i]?.type ?? '')) ? choice : null;
}
