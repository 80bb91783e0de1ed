import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { printJson } from '#shared/json.ts';
import { barChart, type BarChart } from './bar-chart.ts';
import { lineChart, type LineChart } from './line-chart.ts';
import { thisMachine } from './machine.ts';

const FOLDER = join(import.meta.dirname, '../results');

/** Prints the table and writes `<name>.json`, `.txt` and `.svg` to bench/results. */
export async function writeResult(
  name: string,
  result: { readonly table: string; readonly figures: object; readonly chart: BarChart | LineChart },
): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, `${name}.json`), `${printJson({ machine: thisMachine(), ...result.figures }, 2)}\n`);
  await writeFile(join(FOLDER, `${name}.txt`), `${result.table}\n`);
  await writeFile(
    join(FOLDER, `${name}.svg`),
    'labels' in result.chart ? barChart(result.chart) : lineChart(result.chart),
  );
  process.stdout.write(`${result.table}\n\nwritten to ${join(FOLDER, name)}.{json,txt,svg}\n`);
}
