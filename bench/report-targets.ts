import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { printTable } from './report/print-table.ts';
import { judge, TARGETS, type Figures } from './targets.ts';

/** Reads what the benchmarks have written, and prints every target with its figure. */
export async function reportTargets(): Promise<void> {
  const results: Record<string, Figures> = {};
  for (const name of new Set(TARGETS.map(({ result }) => result))) {
    results[name] = JSON.parse(await readFile(join(import.meta.dirname, `results/${name}.json`), 'utf8')) as Figures;
  }
  process.stdout.write(`${printTable(['benchmark', 'what', 'figure', 'target', ''], judge(results))}\n`);
}
