import { escapeText, format } from './svg-text.ts';

/** Bars of several series side by side, one group per label. Values share one unit; a value of 0 draws no bar. */
export type BarChart = {
  readonly title: string;
  readonly unit: string;
  readonly labels: readonly string[];
  readonly series: readonly { readonly name: string; readonly color: string; readonly values: readonly number[] }[];
};

const WIDTH = 960;
const HEIGHT = 360;
const MARGIN = { top: 56, right: 16, bottom: 40, left: 64 };
const GRID_LINES = 4;

/** The chart as a standalone SVG document. */
export function barChart(chart: BarChart): string {
  const top = Math.max(...chart.series.flatMap((s) => s.values), Number.MIN_VALUE);
  const plot = { width: WIDTH - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const group = plot.width / Math.max(1, chart.labels.length);
  const bar = (group * 0.8) / chart.series.length;
  const y = (value: number): number => MARGIN.top + plot.height * (1 - value / top);
  const bars = chart.series.flatMap((series, s) =>
    series.values.map((value, i) => {
      const x = MARGIN.left + group * i + group * 0.1 + bar * s;
      const title = `<title>${escapeText(`${chart.labels[i] ?? ''} ${series.name}: ${format(value)} ${chart.unit}`)}</title>`;
      return `<rect x="${x.toFixed(1)}" y="${y(value).toFixed(1)}" width="${bar.toFixed(1)}" height="${(MARGIN.top + plot.height - y(value)).toFixed(1)}" fill="${series.color}">${title}</rect>`;
    }),
  );
  const labels = chart.labels.map(
    (label, i) =>
      `<text x="${(MARGIN.left + group * (i + 0.5)).toFixed(1)}" y="${HEIGHT - MARGIN.bottom + 16}" text-anchor="middle">${escapeText(label)}</text>`,
  );
  const grid = Array.from({ length: GRID_LINES + 1 }, (_, i) => (top * i) / GRID_LINES).map(
    (value) =>
      `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}" stroke="#ddd"/>` +
      `<text x="${MARGIN.left - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${format(value)}</text>`,
  );
  const legend = chart.series.map(
    (series, s) =>
      `<rect x="${MARGIN.left + 140 * s}" y="32" width="12" height="12" fill="${series.color}"/>` +
      `<text x="${MARGIN.left + 18 + 140 * s}" y="42">${escapeText(series.name)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="11">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    `<text x="${MARGIN.left}" y="20" font-size="14">${escapeText(`${chart.title} (${chart.unit})`)}</text>`,
    ...legend,
    ...grid,
    ...bars,
    ...labels,
    '</svg>',
    '',
  ].join('\n');
}
