import { escapeText, format } from './svg-text.ts';

/** Lines of several series over one axis of time; the values' axis is logarithmic. A value that is missing breaks a line. */
export type LineChart = {
  readonly title: string;
  readonly unit: string;
  /** Seconds between two values. */
  readonly stepSeconds: number;
  readonly series: readonly {
    readonly name: string;
    readonly color: string;
    readonly dashed?: boolean;
    readonly values: readonly (number | null)[];
  }[];
};

const WIDTH = 960;
const HEIGHT = 400;
const MARGIN = { top: 64, right: 16, bottom: 40, left: 64 };
const TIME_MARKS = 6;

/** The chart as a standalone SVG document. */
export function lineChart({ title, unit, stepSeconds, series }: LineChart): string {
  const values = series.flatMap((one) => one.values.filter((value) => value !== null && value > 0)) as number[];
  const low = Math.floor(Math.log10(Math.min(...values, 1)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values, 10))));
  const steps = Math.max(2, ...series.map((one) => one.values.length));
  const plot = { width: WIDTH - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const x = (step: number): number => MARGIN.left + (plot.width * step) / (steps - 1);
  const y = (value: number): number => MARGIN.top + plot.height * (1 - (Math.log10(value) - low) / (high - low));
  const grid = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)).map(
    (value) =>
      `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}" stroke="#ddd"/>` +
      `<text x="${MARGIN.left - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${format(value)}</text>`,
  );
  const marks = Array.from({ length: TIME_MARKS + 1 }, (_, i) => ((steps - 1) * i) / TIME_MARKS).map(
    (step) =>
      `<text x="${x(step).toFixed(1)}" y="${HEIGHT - MARGIN.bottom + 16}" text-anchor="middle">${format(step * stepSeconds)} s</text>`,
  );
  const lines = series.flatMap(({ color, dashed = false, values: of }) =>
    unbroken(of).map(
      (run) =>
        `<polyline fill="none" stroke="${color}" stroke-width="1.5"${dashed ? ' stroke-dasharray="4 3"' : ''} points="${run
          .map(([step, value]) => `${x(step).toFixed(1)},${y(value).toFixed(1)}`)
          .join(' ')}"/>`,
    ),
  );
  const legend = series.map(
    ({ name, color }, i) =>
      `<rect x="${MARGIN.left + 220 * (i % 4)}" y="${28 + 16 * Math.floor(i / 4)}" width="12" height="12" fill="${color}"/>` +
      `<text x="${MARGIN.left + 18 + 220 * (i % 4)}" y="${38 + 16 * Math.floor(i / 4)}">${escapeText(name)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="11">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    `<text x="${MARGIN.left}" y="20" font-size="14">${escapeText(`${title} (${unit})`)}</text>`,
    ...legend,
    ...grid,
    ...marks,
    ...lines,
    '</svg>',
    '',
  ].join('\n');
}

/** The runs of values, each with its step. */
function unbroken(values: readonly (number | null)[]): readonly (readonly (readonly [number, number])[])[] {
  const runs: (readonly [number, number])[][] = [[]];
  for (const [step, value] of values.entries()) {
    if (value === null || value <= 0) runs.push([]);
    else runs.at(-1)?.push([step, value]);
  }
  return runs.filter((run) => run.length > 0);
}
