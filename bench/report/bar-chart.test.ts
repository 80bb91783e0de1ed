import { expect, test } from 'vitest';
import { barChart } from './bar-chart.ts';

test('the tallest bar fills the plot, the others are in proportion, and text is escaped', () => {
  const svg = barChart({
    title: 'a < b & c',
    unit: 'ms',
    labels: ['q1'],
    series: [
      { name: 'one', color: 'red', values: [100] },
      { name: 'half', color: 'blue', values: [50] },
    ],
  });
  const heights = [...svg.matchAll(/height="([\d.]+)" fill="(red|blue)"><title>/g)].map((match) => Number(match[1]));
  expect(heights[0]).toBeCloseTo(2 * (heights[1] ?? 0), 1);
  expect(svg).toContain('a &lt; b &amp; c (ms)');
});
