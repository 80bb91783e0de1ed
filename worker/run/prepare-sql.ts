import { scannedBytes } from '#shared/task/scanned-bytes.ts';
import type { SqlText } from '#shared/task/sql-text.ts';
import type { ScanReport, ScanSpec, TaskSpec } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { DeletedPositions } from '../scan/deleted-positions.ts';
import { LATE_FALSE } from '../duckdb/statement.ts';
import type { CopiedFiles } from '../disk-cache/copied-files.ts';
import type { FooterCache } from '../scan/footer-cache.ts';
import { printScan, type PrintedScan } from '../scan/print-scan.ts';
import { RealFiles } from '../scan/real-files.ts';
import { inBatches } from '../scan/in-batches.ts';
import { isOfData } from '../load/data-fault.ts';
import { checkFile, printStaged } from '../staged/print-staged.ts';
import type { RangeFiles } from '../staged/range-files.ts';
import { readyText } from '../staged/ready-text.ts';
import type { HeldObjects } from '../objects/held-objects.ts';
import { wholeFiles } from '../staged/whole-files.ts';
import type { FetchFiles, OpenScanned } from '../scan/readable-path.ts';
import { stagedError } from '../staged/staged-error.ts';

/** A task's SQL with every scan printed, reports of the scans, and the positions table that must be loaded first. */
export type PreparedSql = {
  /** Prints the SQL that DuckDB runs, given the SQL for each input; `cached` has the texts of scans that the row cache serves. */
  readonly print: (inputs: readonly string[], cached?: ReadonlyMap<number, string>) => string;
  readonly scans: readonly PrintedScan[];
  readonly reports: readonly ScanReport[];
  /** Locations of the files that DuckDB opens. */
  readonly files: ReadonlySet<string>;
  /** The local ones among them. */
  readonly realFiles: RealFiles;
  readonly positions: DeletedPositions;
};

type PrepareTools = {
  readonly footers: FooterCache;
  /** Memory for deleted positions. */
  readonly positionBytesMax: number;
  /** Where parts of a stage's files are copied to. */
  readonly ranges: RangeFiles;
  /** Copies that are read in place of data files. */
  readonly copies?: CopiedFiles | undefined;
  /** Objects of buckets, which DuckDB reads as local files. */
  readonly objects: HeldObjects;
  /** Objects may be there in part. */
  readonly mayHaveHoles: boolean;
};

/** @throws what `printScan` throws, and the reason of `signal`. */
export async function prepareSql(
  signal: AbortSignal,
  spec: TaskSpec,
  { footers, positionBytesMax, ranges, copies, objects, mayHaveHoles }: PrepareTools,
): Promise<PreparedSql> {
  const positions = new DeletedPositions(positionBytesMax);
  const isLoad = spec.output.kind === 'table' && spec.output.sink.load !== undefined;
  const scans: PrintedScan[] = [];
  const realFiles = new RealFiles();
  for (const [index, scan] of spec.scans.entries()) {
    const open: OpenScanned = (location) => objects.open(location, scan);
    const fetch: FetchFiles = (files) => objects.fetch(signal, files, scan);
    const readFooter = footers.of(signal, { tenant: spec.tenant, tableUuid: scan.tableUuid, open });
    const { staged } = scan;
    scans.push(
      isLoad
        ? await loadedScan(signal, scan, { index, open, fetch, ranges })
        : staged === undefined
          ? await printScan(signal, scan, {
              index,
              tenant: spec.tenant,
              open,
              fetch,
              keptPath: (location) => objects.keptPath(location),
              wholeBytesMax: mayHaveHoles ? objects.wholeBytesMax : Infinity,
              readFooter,
              positions,
              copies,
              no: LATE_FALSE,
            })
          : await printStaged(signal, { ...scan, staged }, { index, open, fetch, readFooter, ranges }).catch(
              async (error: unknown) => {
                throw await stagedError(SkeinError.of(error), spec, ranges);
              },
            ),
    );
    for (const path of scans.at(-1)?.files ?? []) realFiles.add(open, path);
  }
  signal.throwIfAborted();
  return {
    scans,
    print: (inputs, cached) =>
      printSql(
        spec.sql,
        scans.map(({ sql }, i) => cached?.get(i) ?? sql),
        inputs,
      ),
    reports: scans.map((scan) => scan.report),
    files: new Set(scans.flatMap((scan) => scan.files)),
    realFiles,
    positions,
  };
}

/** The text with the SQL for each scan and each input. */
export const printSql = (text: SqlText, scans: readonly string[], inputs: readonly string[]): string =>
  text
    .map((part) => {
      if (typeof part === 'string') return part;
      if ('input' in part) return must(inputs[part.input], 'a fragment names its inputs');
      return must(scans[part.scan], 'a fragment names its scans');
    })
    .join('');

/** A scan whose files are printed one by one (`worker/load`); copies of text files are made before. */
async function loadedScan(
  signal: AbortSignal,
  scan: ScanSpec,
  {
    index,
    open,
    fetch,
    ranges,
  }: Pick<PrepareTools, 'ranges'> & {
    readonly index: number;
    readonly open: OpenScanned;
    readonly fetch: FetchFiles;
  },
): Promise<PrintedScan> {
  const { files, staged } = scan;
  const format = staged?.format;
  await fetch(wholeFiles(files, format));
  if (staged !== undefined && format !== undefined && format.kind !== 'parquet') {
    await inBatches(signal, files, async (file) => {
      await checkFile(scan, file, open);
      try {
        await readyText(signal, file, { ...staged, format }, { open, ranges });
      } catch (error) {
        // The load itself tells the faults of its files.
        if (!isOfData(error)) throw error;
      }
    });
  }
  const report = { scan: index, files: files.length, rowGroups: 0, rowGroupsPruned: 0 };
  return {
    sql: '',
    report: { ...report, bytes: files.reduce((sum, file) => sum + scannedBytes(file), 0) },
    rows: 0,
    files: files.map(({ path }) => path),
  };
}
