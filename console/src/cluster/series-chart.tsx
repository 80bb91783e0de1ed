import { useEffect, useRef, type ReactNode } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { fadeColour } from '../app/fade-colour.ts';

type Props = {
  readonly title: string;
  readonly seconds: readonly number[];
  readonly lines: readonly { readonly name: string; readonly values: readonly number[] }[];
  readonly print: (value: number) => string;
  /** Bytes have marks at powers of two. */
  readonly areBytes?: boolean;
};

const COLOURS = ['#3b82c4', '#c2571a', '#3a9a5b', '#8e5bc0'];
const HEIGHT_PX = 150;
const BYTE_STEPS = Array.from({ length: 50 }, (_, power) => 2 ** power);

/** Figures over time, in the reader's own zone. */
export function SeriesChart({ title, seconds, lines, print, areBytes = false }: Props): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot>(null);
  const data = [seconds, ...lines.map(({ values }) => values)] as unknown as UPlot.AlignedData;
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const stroke = getComputedStyle(element).color;
    const axis = { stroke, grid: { stroke: fadeColour(stroke, 0.13) }, ticks: { stroke: fadeColour(stroke, 0.13) } };
    const made = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT_PX,
        scales: { y: { range: (_chart, _low, high) => [0, Math.max(1, high * 1.1)] } },
        axes: [
          axis,
          {
            ...axis,
            size: 70,
            ...(areBytes ? { incrs: BYTE_STEPS } : {}),
            values: (_chart, values) => values.map(print),
          },
        ],
        series: [
          {},
          ...lines.map(({ name }, i) => ({
            label: name,
            stroke: COLOURS[i] ?? stroke,
            width: 2,
            value: (_chart: UPlot, value: number | null) => (value === null ? '–' : print(value)),
          })),
        ],
      },
      data,
      element,
    );
    chart.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
    // It is made once: its figures follow.
  }, []);
  useEffect(() => chart.current?.setData(data), [seconds]);
  const last = lines.map(({ name, values }) => `${name} ${print(values.at(-1) ?? 0)}`).join(', ');
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <div ref={place} role="img" aria-label={`${title}: ${last}`} />
    </figure>
  );
}
