import type { ScanReport, TaskSpec } from '#proto/task.ts';
import { must } from '#shared/must.ts';
import { DeletedPositions } from './deleted-positions.ts';
import type { FooterCache } from './footer.ts';
import { printScan, type PrintedScan } from './print-scan.ts';

/** The text that DuckDB runs, with every scan printed; what the scans read; and the table that must be there before. */
export type PreparedSql = {
  readonly sql: string;
  readonly reports: readonly ScanReport[];
  readonly positions: DeletedPositions;
};

/** What stands in the text for an input: the table function or the temporary table that has its rows. */
const inputName = (input: number): string => `skein_input_${input}`;

/** @throws what `printScan` throws, and the reason of `signal`. */
export async function prepareSql(signal: AbortSignal, spec: TaskSpec, footers: FooterCache): Promise<PreparedSql> {
  const positions = new DeletedPositions();
  const scans: PrintedScan[] = [];
  for (const [index, scan] of spec.scans.entries())
    scans.push(await printScan(signal, scan, { index, footers, positions }));
  signal.throwIfAborted();
  return {
    sql: spec.sql
      .map((part) => {
        if (typeof part === 'string') return part;
        return 'input' in part ? inputName(part.input) : must(scans[part.scan], 'a fragment names its scans').sql;
      })
      .join(''),
    reports: scans.map((scan) => scan.report),
    positions,
  };
}
