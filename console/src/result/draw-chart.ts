import { BarChart, LineChart, ScatterChart } from 'echarts/charts';
import { GridComponent, LegendComponent, TooltipComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { fadeColour } from '../app/fade-colour.ts';
import type { ChartChoice } from './chart-choice.ts';
import type { ResultSet } from './result-set.ts';

use([BarChart, LineChart, ScatterChart, GridComponent, TooltipComponent, LegendComponent, CanvasRenderer]);

/** Points that are drawn; a chart of more says so. */
const POINTS_MAX = 10_000;
const BINS = 30;

export type Drawn = {
  /** The picture as a file. */
  readonly png: () => Promise<Blob>;
  readonly end: () => void;
  readonly told: string;
};

/** Draws the rows shown. Doubles are near enough for a picture. */
export function drawChart(place: HTMLElement, result: ResultSet, choice: ChartChoice): Drawn {
  const style = getComputedStyle(place);
  const ink = style.color;
  const ground = getComputedStyle(document.documentElement).backgroundColor;
  const chart = init(place, null, { renderer: 'canvas' });
  const axis = {
    axisLabel: { color: fadeColour(ink, 0.8) },
    nameTextStyle: { color: ink },
    axisLine: { lineStyle: { color: fadeColour(ink, 0.5) } },
    splitLine: { lineStyle: { color: fadeColour(ink, 0.15) } },
  };
  const rows = Math.min(result.rowCount, POINTS_MAX);
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  chart.setOption({
    animation: !isStill,
    backgroundColor: ground,
    textStyle: { color: ink, fontFamily: style.fontFamily },
    // Texts on the canvas: no markup is set.
    tooltip: { trigger: 'axis', renderMode: 'richText' },
    legend: { top: 0, textStyle: { color: ink } },
    grid: { left: 8, right: 16, top: 36, bottom: 8, containLabel: true },
    ...withAxes(choice.kind === 'histogram' ? histogram(result, choice, rows) : series(result, choice, rows), axis),
  });
  const observer = new ResizeObserver(() => chart.resize());
  observer.observe(place);
  return {
    png: () => pngOf(chart.renderToCanvas({ pixelRatio: 2 })),
    end: () => {
      observer.disconnect();
      chart.dispose();
    },
    told:
      rows < result.rowCount
        ? `The first ${rows.toLocaleString()} of ${result.rowCount.toLocaleString()} rows`
        : 'The rows shown',
  };
}

/** Not by an address that has the data, which the page's policy lets nobody ask for. */
const pngOf = (canvas: HTMLCanvasElement): Promise<Blob> =>
  new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error('the browser makes no PNG')) : resolve(blob)),
      'image/png',
    );
  });

type Axes = { readonly xAxis: object; readonly yAxis: object };

const withAxes = ({ xAxis, yAxis, ...rest }: Axes, axis: object): object => ({
  ...rest,
  xAxis: { ...axis, ...xAxis },
  yAxis: { ...axis, ...yAxis },
});

const numberAt = (result: ResultSet, row: number, column: number): number | null => {
  const text = result.text(row, column);
  return text === null || !Number.isFinite(Number(text)) ? null : Number(text);
};

function series(result: ResultSet, { kind, x, y }: ChartChoice, rows: number): Axes & { readonly series: object } {
  const places = Array.from({ length: rows }, (_, row) => row);
  const isScatter = kind === 'scatter';
  return {
    xAxis: isScatter
      ? { type: 'value', scale: true, name: result.columns[x]?.name }
      : { type: 'category', data: places.map((row) => result.text(row, x) ?? 'NULL') },
    yAxis: { type: 'value', scale: isScatter },
    series: y.map((column) => ({
      name: result.columns[column]?.name ?? '',
      type: kind === 'area' ? 'line' : kind,
      ...(kind === 'area' ? { areaStyle: {} } : {}),
      data: places.map((row) =>
        isScatter ? [numberAt(result, row, x), numberAt(result, row, column)] : numberAt(result, row, column),
      ),
    })),
  };
}

function histogram(result: ResultSet, { y }: ChartChoice, rows: number): Axes & { readonly series: object } {
  const [column = 0] = y;
  const values = Array.from({ length: rows }, (_, row) => numberAt(result, row, column)).filter((one) => one !== null);
  const low = values.reduce((least, one) => Math.min(least, one), Infinity);
  const high = values.reduce((most, one) => Math.max(most, one), -Infinity);
  const width = (high - low) / BINS || 1;
  const counts = Array.from({ length: BINS }, () => 0);
  for (const value of values) {
    const bin = Math.min(BINS - 1, Math.floor((value - low) / width));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return {
    xAxis: { type: 'category', data: counts.map((_, bin) => (low + bin * width).toPrecision(4)) },
    yAxis: { type: 'value' },
    series: [{ name: result.columns[column]?.name ?? '', type: 'bar', barCategoryGap: '2%', data: counts }],
  };
}
