import type { SqlText } from '#proto/sql-text.ts';
import type { ScanSpec } from '#proto/task.ts';
import { must } from '#shared/must.ts';
import { unsoundOptimizers } from '#shared/sql/unsound-optimizers.ts';

/** The optimizers of DuckDB that are off while a task's text runs, because they may make wrong answers of it. */
export function unsoundFor(text: SqlText, scans: readonly Pick<ScanSpec, 'tableUuid'>[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const part of text) {
    if (typeof part === 'string') continue;
    const source = 'scan' in part ? must(scans[part.scan], 'a scan of the task').tableUuid : `input ${part.input}`;
    counts.set(source, (counts.get(source) ?? 0) + 1);
  }
  const sql = text.map((part) => (typeof part === 'string' ? part : ' ')).join('');
  return unsoundOptimizers({ sql, process: 'worker', mentions: Math.max(0, ...counts.values()) });
}
