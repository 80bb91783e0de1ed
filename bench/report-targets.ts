import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Figures } from './figures.ts';
import { withFigures } from './report/figure-table.ts';
import { printTable } from './report/print-table.ts';
import { COMMANDS, goalOf, judge, type ResultName } from './targets.ts';

const PAGE = join(import.meta.dirname, '../docs/performance.md');

/** Prints the targets of what the benchmarks have written, each with its figure, and puts the figures into `docs/performance.md`. */
export async function reportTargets(): Promise<void> {
  const results: Partial<Record<ResultName, Figures>> = {};
  for (const name of Object.keys(COMMANDS) as ResultName[]) {
    const file = join(import.meta.dirname, `results/${name}.json`);
    const written = await stat(file).catch(() => null);
    if (written === null) continue;
    results[name] = JSON.parse(await readFile(file, 'utf8')) as Figures;
    const day = written.mtime.toISOString().slice(0, 10);
    await writeFile(PAGE, withFigures(await readFile(PAGE, 'utf8'), judge({ [name]: results[name] }), day));
  }
  const lines = judge(results).map(({ target, figure, isMet }) => [
    target.result,
    target.what,
    figure,
    goalOf(target),
    isMet ? 'met' : 'MISSED',
  ]);
  process.stdout.write(`${printTable(['benchmark', 'what', 'figure', 'target', ''], lines)}\n`);
}
