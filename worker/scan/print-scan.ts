import type { ScanDelete, ScanFile } from '#shared/iceberg/scan-file.ts';
import type { ScanReport, ScanSpec } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { TenantId } from '#shared/id.ts';
import { duckDbType } from '#shared/iceberg/duckdb-type.ts';
import { must } from '#shared/must.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { readParquet } from '#shared/sql/read-parquet.ts';
import type { CopiedFiles, NamedFile } from '../disk-cache/copied-files.ts';
import { cacheableScan, isLike, type CacheableScan } from './cacheable-scan.ts';
import type { DeletedPositions } from './deleted-positions.ts';
import { fileFactsJoin, isAddress } from './print-address.ts';
import { deletedRowsJoin, hasDeletedPositions } from './print-deleted.ts';
import { baseName, columnSource, planFile, type EqualityDelete, type PlannedFile } from './plan-file.ts';
import type { ReadFooter } from './footer.ts';
import { misleadingColumns } from './misleading-columns.ts';
import { withFieldIds } from './name-mapping.ts';
import { readablePath, type FetchFiles, type OpenScanned } from './readable-path.ts';

/** Footers that are read at once. */
const FOOTERS_AT_ONCE = 16;

/** The tenant, the access to a scan's files, the reader of their footers, and the place for deleted positions. */
export type ScanTools = {
  readonly tenant: TenantId;
  readonly open: OpenScanned;
  /** Absent where all files are local. */
  readonly fetch?: FetchFiles;
  /** The path of an object that is here whole and stays for later tasks. */
  readonly keptPath?: (location: string) => string | undefined;
  /** A file that is not local and has more bytes is there in part: what a task does not need is not fetched. Absent = none is. */
  readonly wholeBytesMax?: number;
  readonly readFooter: ReadFooter;
  readonly positions: DeletedPositions;
  /** Copies that are read in place of data files. */
  readonly copies?: CopiedFiles | undefined;
  /** The SQL of false in calls of table functions. */
  readonly no?: string;
};

/** A scan as a subquery in parentheses, what it will read, and the locations of the files that DuckDB opens for it. */
export type PrintedScan = {
  readonly sql: string;
  readonly report: ScanReport;
  /** Rows of the row groups that it will read; 0 when that is not known before. */
  readonly rows: number;
  readonly files: readonly string[];
  /** Present when the row cache may give the rows. */
  readonly cacheable?: CacheableScan;
};

/**
 * Prints a scan. Files of one schema that are read in the same way share one `read_parquet`, so in the common case (no deletes, no schema
 * change) the text looks as if written by hand:
 *
 * ```
 * (SELECT CAST(f."l_orderkey" AS BIGINT) AS "l_orderkey", ... FROM read_parquet(['/a/1.parquet', '/a/2.parquet'], ...) AS f)
 * ```
 *
 * Files of another schema, with deletes, or of which only some rows are read, become further branches of a UNION ALL. All files of one
 * schema with deleted positions are one branch. Positions of deletion vectors are added to `positions`, a table that the slot creates first.
 * @throws INVALID_TABLE_DATA, STORAGE_ERROR, NOT_SUPPORTED
 */
export async function printScan(
  signal: AbortSignal,
  scan: ScanSpec,
  { index, ...tools }: ScanTools & { readonly index: number },
): Promise<PrintedScan> {
  const files: PlannedFile[] = [];
  const { wholeBytesMax = Infinity } = tools;
  const plan = (file: ScanFile): Promise<PlannedFile> => {
    const isPart = file.sizeBytes > wholeBytesMax && !tools.open(file.path).isLocal;
    return planFile(signal, scan, file, {
      readFooter: tools.readFooter,
      needs: isPart ? 'some' : 'all',
      rowsMax: rowsLeft,
    });
  };
  let rowsLeft = rowsWanted(scan);
  const step = rowsLeft === Infinity ? FOOTERS_AT_ONCE : 1;
  for (let start = 0; start < scan.files.length && rowsLeft > 0; start += step) {
    signal.throwIfAborted();
    const batch = scan.files.slice(start, start + step);
    const planned = await Promise.all(batch.map(plan));
    files.push(...planned);
    for (const { kept } of planned) rowsLeft -= kept.reduce((sum, { rows }) => sum + rows, 0);
  }
  const read = files.filter((file) => file.read);
  const open = await fetchFiles(scan, read, tools);
  const texts: string[] = [];
  for (const branch of branchesOf(read)) {
    signal.throwIfAborted();
    texts.push(await printBranch(scan, branch, { ...tools, open }));
  }
  const report = files.reduce(
    (sum, file) => ({
      ...sum,
      files: sum.files + (file.read ? 1 : 0),
      rowGroups: sum.rowGroups + file.report.rowGroups,
      rowGroupsPruned: sum.rowGroupsPruned + file.report.rowGroupsPruned,
      bytes: sum.bytes + file.report.bytes,
    }),
    { scan: index, files: 0, rowGroups: 0, rowGroupsPruned: 0, bytes: 0 },
  );
  const cacheable = cacheableScan(scan, read, { ...tools, open });
  return {
    sql: `(${texts.length === 0 ? printEmpty(scan) : texts.join(' UNION ALL ')})`,
    report,
    rows: read.reduce((sum, { kept }) => kept.reduce((all, { rows }) => all + rows, sum), 0),
    files: read.flatMap(({ file }) => [file.path, ...file.deletes.map(({ path }) => path)]),
    ...(cacheable === undefined ? {} : { cacheable }),
  };
}

/** Brings the files here that have no copy. @returns how they are opened: an object with a copy by its copy */
async function fetchFiles(scan: ScanSpec, read: readonly PlannedFile[], tools: ScanTools): Promise<OpenScanned> {
  const copies = new Map<string, string>();
  for (const { file } of read) {
    if (tools.open(file.path).isLocal) continue;
    const copy = tools.copies?.copyOf(namedFile(scan, file));
    if (copy !== undefined) copies.set(file.path, copy);
  }
  await tools.fetch?.(
    read.flatMap((planned) => {
      const { file, needed } = planned;
      const isWorthCopying = tools.copies?.mayCopy(file) === true && isWorthACopy(planned);
      const own = copies.has(file.path) ? [] : [{ ...file, wanted: needed, isWorthCopying }];
      return [...own, ...file.deletes.filter(isFile)];
    }),
  );
  for (const planned of read) {
    const { file } = planned;
    const whole = isWorthACopy(planned) && !copies.has(file.path) ? tools.keptPath?.(file.path) : undefined;
    if (whole !== undefined) tools.copies?.noteRead(namedFile(scan, file), whole, 'worker');
  }
  return (location) => {
    const copy = copies.get(location);
    return copy === undefined ? tools.open(location) : { ...tools.open(location), localPath: () => copy };
  };
}

const namedFile = ({ tableUuid }: ScanSpec, { path, sizeBytes }: ScanFile): NamedFile => ({
  tableUuid,
  path,
  sizeBytes,
});

/** A scan that needs little of a file does without a copy. */
const isWorthACopy = ({ isPacked, kept, report }: PlannedFile): boolean =>
  isPacked && kept.length * 2 >= report.rowGroups;

/** Rows of a scan that are read of files with no deletes and for no predicate: there any will do for a LIMIT. */
const rowsWanted = ({ rowsMax = Infinity, predicate, files }: ScanSpec): number =>
  predicate.kind === 'true' && files.every(({ deletes }) => deletes.length === 0) ? rowsMax : Infinity;

/** A deletion vector is read by itself. */
const isFile = (one: ScanDelete): one is Exclude<ScanDelete, { kind: 'vector' }> => one.kind !== 'vector';

/** The files that stand in one `read_parquet` each. Most tables have one branch, whose files are alike. */
function branchesOf(files: readonly PlannedFile[]): Iterable<readonly PlannedFile[]> {
  const [first] = files;
  const isOne = first !== undefined && files.every((file) => file.bounds.length === 0 && isLike(file, first));
  return isOne ? [files] : Map.groupBy(files, branchKey).values();
}

/** Files with equal keys stand in one branch. */
function branchKey({ file, bounds, signature, columns }: PlannedFile): string {
  const equality = file.deletes.flatMap((one) => (one.kind === 'equality' ? [one.path] : [])).sort();
  return JSON.stringify([
    signature,
    columns,
    equality,
    hasDeletedPositions(file),
    bounds.length > 0 ? [file.path, bounds] : null,
  ]);
}

async function printBranch(scan: ScanSpec, files: readonly PlannedFile[], tools: ScanTools): Promise<string> {
  const [first] = files;
  const { bounds, columns, equality } = must(first, 'a branch has a file');
  // A scan of no columns still has its rows.
  const selected = columns.length === 0 ? ['1 AS "1"'] : columns.map((sql, i) => `${sql} AS ${alias(scan, i)}`);
  const located = files.map((one) => ({ file: one.file, local: localPath(scan, one, tools) }));
  const joins = [
    fileFactsJoin(scan.columns, located),
    await deletedRowsJoin(located, tools),
    ...(await equalityJoins(scan, equality, tools)),
  ];
  const where = bounds.length === 0 ? '' : ` WHERE ${bounds.join(' AND ')}`;
  if (joins.some((join) => join !== '') || where !== '' || scan.columns.some(isAddress)) checkVirtualColumns(files);
  const paths = located.map(({ local }) => local);
  return `SELECT ${selected.join(', ')} FROM ${readParquet(paths, '', tools.no)} AS f${joins.join('')}${where}`;
}

/** The path by which DuckDB reads a data file: that of its copy, if it has one. */
function localPath(scan: ScanSpec, planned: PlannedFile, tools: ScanTools): string {
  const { file } = planned;
  const local = readablePath(tools.open, file.path);
  if (!tools.open(file.path).isLocal) return local;
  const isWorthCopying = isWorthACopy(planned);
  return tools.copies?.pathOf({ ...namedFile(scan, file), local, isWorthCopying }) ?? local;
}

const alias = (scan: ScanSpec, index: number): string =>
  quoteIdentifier(must(scan.columns[index], 'an expression is a column of the scan').name);

const readFiles = ({ open, no }: ScanTools, locations: readonly string[]): string => {
  const paths = locations.map((location) => readablePath(open, location));
  return readParquet(paths, '', no);
};

/** Rejects a file whose column hides DuckDB's virtual column of the same name, because its rows could not be numbered. */
function checkVirtualColumns(files: readonly PlannedFile[]): void {
  for (const { hidesVirtual, file } of files) {
    if (hidesVirtual) {
      throw new SkeinError(
        'NOT_SUPPORTED',
        `${baseName(file.path)} has a column with a reserved name, and deletes or read addresses (filename, file_row_number)`,
      );
    }
  }
}

/** One anti join for all delete files that compare the same columns; NULL equals NULL there (Iceberg spec, Equality Delete Files). */
async function equalityJoins(scan: ScanSpec, deletes: readonly EqualityDelete[], tools: ScanTools): Promise<string[]> {
  const byColumns = new Map<string, EqualityDelete[]>();
  for (const one of deletes) {
    const key = JSON.stringify(one.spec.columns.map((column) => column.fieldId));
    byColumns.set(key, [...(byColumns.get(key) ?? []), one]);
  }
  const joins: string[] = [];
  for (const group of byColumns.values()) {
    const alias = `e${joins.length}`;
    const sources: string[] = [];
    for (const { spec } of group) sources.push(await printDeleteFile(scan, spec, tools));
    const conditions = (group[0]?.columns ?? []).map((sql, i) => `${sql} IS NOT DISTINCT FROM ${alias}.c${i}`);
    joins.push(` ANTI JOIN (${sources.join(' UNION ')}) AS ${alias} ON ${conditions.join(' AND ')}`);
  }
  return joins;
}

async function printDeleteFile(scan: ScanSpec, spec: EqualityDelete['spec'], tools: ScanTools): Promise<string> {
  const footer = await tools.readFooter(spec);
  const fields = withFieldIds(footer.fields, scan.nameMapping, baseName(spec.path));
  for (const column of spec.columns) {
    // Without this column's values the join would delete other rows, too. Columns inside structs are not compared.
    if (fields.some((field) => field.id === column.fieldId)) continue;
    throw new SkeinError(
      'NOT_SUPPORTED',
      `the equality deletes of ${baseName(spec.path)} lack the column ${JSON.stringify(column.name)} at their top level`,
    );
  }
  const source = columnSource(fields, { constants: {} }, misleadingColumns(footer));
  const columns = spec.columns.map((column, i) => `${source(column)} AS c${i}`);
  return `SELECT ${columns.join(', ')} FROM ${readFiles(tools, [spec.path])} AS f`;
}

function printEmpty(scan: ScanSpec): string {
  const columns = scan.columns.map(
    (column) => `CAST(NULL AS ${duckDbType(column.type)}) AS ${quoteIdentifier(column.name)}`,
  );
  return `SELECT ${columns.length === 0 ? '1 AS "1"' : columns.join(', ')} WHERE false`;
}
