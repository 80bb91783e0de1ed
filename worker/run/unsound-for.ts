import type { SqlText } from '#shared/task/sql-text.ts';
import type { ScanSpec } from '#shared/task/task.ts';
import { must } from '#shared/must.ts';
import { hasUnsoundWindows, unsoundOptimizers } from '#shared/sql/unsound-optimizers.ts';

/** The parts of DuckDB that a task's text runs without, because they may make wrong answers of it. */
export type Unsound = {
  /** Names of optimizers. */
  readonly optimizers: readonly string[];
  /** Aggregates that compute windows in a way of their own. */
  readonly windows: boolean;
};

/** The parts of DuckDB that are off while a task's text runs. */
export function unsoundFor(text: SqlText, scans: readonly Pick<ScanSpec, 'tableUuid'>[]): Unsound {
  const counts = new Map<string, number>();
  for (const part of text) {
    if (typeof part === 'string') continue;
    const source = 'scan' in part ? must(scans[part.scan], 'a scan of the task').tableUuid : `input ${part.input}`;
    counts.set(source, (counts.get(source) ?? 0) + 1);
  }
  const sql = text.map((part) => (typeof part === 'string' ? part : ' ')).join('');
  const mentions = Math.max(0, ...counts.values());
  return { optimizers: unsoundOptimizers({ sql, process: 'worker', mentions }), windows: hasUnsoundWindows(sql) };
}
