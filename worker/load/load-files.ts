import type { FileLoad, LoadRules, OnError, RecordFault } from '#shared/task/load-rules.ts';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { ScanSpec, StagedSource } from '#shared/task/task.ts';
import { faultError } from '#shared/task/record-fault.ts';
import { SkeinError } from '#shared/error.ts';
import { isObject } from '#shared/iceberg/type.ts';
import type { Json } from '#shared/json.ts';
import type { ReadFooter } from '../scan/footer.ts';
import { inBatches } from '../scan/in-batches.ts';
import { checkFile as requireUnchanged } from '../staged/print-staged.ts';
import type { RangeFiles } from '../staged/range-files.ts';
import type { WrittenTable } from '../write/write-table.ts';
import { checkRecordsOf, dropRejects, type CheckTools, type FileCheck } from './check-file.ts';
import { dataFault, isOfData } from './data-fault.ts';
import { stagedFile, type StagedFile } from './staged-file.ts';

/** Faults of one file that a check reports. */
const FAULTS_MAX = 1_000;
/** Faults of all files of a task, beside the first of each: they are in memory at once, and in the task's report. */
const TASK_FAULTS_MAX = 10_000;

export type LoadTask = Omit<CheckTools, 'source'> & {
  readonly scan: ScanSpec & { readonly staged: StagedSource };
  readonly rules: LoadRules;
  readonly readFooter: ReadFooter;
  /** Copies of the parts of text files. */
  readonly ranges: RangeFiles;
  /** Writes the rows of a text as files of the table; those of one that fails are deleted. */
  readonly write: (sql: string) => Promise<WrittenTable>;
  /** DuckDB's operators of the last `write`, with the number of rows that each gave. */
  readonly operators: () => Json;
};

type Loaded = WrittenTable & { readonly loads: readonly FileLoad[] };

/** A file that can be read, or what is wrong with it. */
type Opened = { readonly file: ScanFile } & ({ readonly text: StagedFile | null } | { readonly fault: RecordFault });

/**
 * Loads the files of a task into a table.
 * ```
 *   one COPY of all files ─▶ done; the operators that read the files tell the rows of each
 *      └─ fails by their data ─▶ every file is read once more, record by record ─▶ ABORT_STATEMENT: the first fault is the error
 *                                   └─ else: one COPY of the files that stay, without the records that cannot be loaded
 * ```
 * @throws STAGE_FILE_NOT_FOUND, the first fault for ABORT_STATEMENT
 */
export async function loadFiles(task: LoadTask): Promise<Loaded> {
  const { rules } = task;
  const opened = await openFiles(task);
  const readable = opened.flatMap((one) => ('text' in one && one.text !== null ? [one.text] : []));
  // All tasks that have a part of a file find what is wrong with it as a whole: one tells it.
  const unreadable = opened.flatMap((one) =>
    'fault' in one && isBegin(one.file) ? [{ file: one.file, check: brokenFile(one.fault) }] : [],
  );
  if (rules.what === 'check') {
    const checks = await checkAll(readable, FAULTS_MAX, task);
    return { ...NOTHING, loads: [...unreadable, ...checks].map(({ file, check }) => notLoaded(file, check)) };
  }
  if (rules.onError.kind === 'abort') for (const { file, check } of unreadable) throw firstFault(file, check, task);
  const failed = unreadable.map(({ file, check }) => notLoaded(file, check));
  try {
    const { written, rows } = await writeStrictly(readable, task);
    const loads = readable.map(({ file }, i) => wholeLoad(file, rows[i] ?? 0));
    return { ...written, loads: [...failed, ...loads] };
  } catch (error) {
    if (!isOfData(error)) throw error;
    return await loadChecked(readable, error, { task, failed });
  }
}

const isBegin = ({ bytes }: ScanFile): boolean => bytes === undefined || bytes.start === 0;

const NOTHING: WrittenTable = { files: [], replaced: [] };

async function openFiles(task: LoadTask): Promise<readonly Opened[]> {
  const { scan, open, signal } = task;
  return inBatches(signal, scan.files, async (file): Promise<Opened> => {
    await requireUnchanged(scan, file, open);
    try {
      return { file, text: await stagedFile(scan.staged, file, task) };
    } catch (error) {
      return { file, fault: dataFault(error) };
    }
  });
}

/** Writes all records of the files. @returns also how many each has */
async function writeStrictly(
  files: readonly StagedFile[],
  task: LoadTask,
): Promise<{ readonly written: WrittenTable; readonly rows: readonly number[] }> {
  if (files.length === 0) return { written: NOTHING, rows: [] };
  const written = await task.write(task.strict(`(${union(files)})`));
  const scanned = scanRows(task.operators());
  if (scanned.length !== files.length) throw notOneForOne();
  const rows = files.map((file, i) => file.rows ?? scanned[i] ?? 0);
  const sum = rows.reduce((total, count) => total + count, 0);
  if (sum !== written.files.reduce((total, { recordCount }) => total + recordCount, 0)) throw notOneForOne();
  return { written, rows };
}

const notOneForOne = (): SkeinError =>
  new SkeinError('NOT_SUPPORTED', 'the SELECT of COPY INTO gives one row for each record of a file');

const union = (files: readonly StagedFile[]): string => files.map(({ strict }) => strict).join(' UNION ALL ');

/** The numbers of rows that the scans of a statement gave, in its text's order. */
function scanRows(operator: Json): readonly number[] {
  if (!isObject(operator)) return [];
  const { operator_type: type, operator_cardinality: rows, children } = operator;
  if (type === 'TABLE_SCAN') return [Number(rows)];
  return Array.isArray(children) ? (children as readonly Json[]).flatMap(scanRows) : [];
}

type Checked = { readonly file: ScanFile; readonly text: StagedFile; readonly check: FileCheck };

async function checkAll(files: readonly StagedFile[], faultsMax: number, task: LoadTask): Promise<readonly Checked[]> {
  const { signal, rules, scan } = task;
  const tools = { ...task, source: scan.staged };
  const checked: Checked[] = [];
  let left = TASK_FAULTS_MAX;
  for (const text of files) {
    signal.throwIfAborted();
    const check = await checkRecordsOf(text, Math.max(1, Math.min(faultsMax, left)), tools);
    left -= check.faults.length;
    if (check.errors > 0 && rules.what === 'load' && rules.onError.kind === 'abort')
      throw firstFault(text.file, check, task);
    checked.push({ file: text.file, text, check });
  }
  return checked;
}

/** Loads files one of which has faults. @param cause the error that told so */
async function loadChecked(
  files: readonly StagedFile[],
  cause: unknown,
  { task, failed }: { readonly task: LoadTask; readonly failed: readonly FileLoad[] },
): Promise<Loaded> {
  const { rules } = task;
  const checked = await checkAll(files, 1, task);
  if (rules.onError.kind === 'abort') throw cause;
  const stays = (check: FileCheck): boolean => check.errors < check.parsed && !isSkipped(check, rules.onError);
  const staying = checked.filter(({ check }) => stays(check));
  const written = await writeStaying(staying, task);
  const loads = checked.map(({ file, check }) => {
    const { parsed, errors, faults } = check;
    if (!stays(check) && errors > 0) return notLoaded(file, check);
    return { path: file.path, rowsParsed: parsed, rowsLoaded: parsed - errors, errors, faults };
  });
  return { ...written, loads: [...failed, ...loads] };
}

async function writeStaying(files: readonly Checked[], task: LoadTask): Promise<WrittenTable> {
  if (files.length === 0) return NOTHING;
  try {
    return await task.write(files.map((one) => rowsOf(one, task)).join(' UNION ALL '));
  } finally {
    dropRejects(task);
  }
}

/** The records of a file that can be loaded, as rows of the table. */
const rowsOf = ({ text, check }: Checked, { strict, guarded, rules }: LoadTask): string =>
  check.errors === 0
    ? `SELECT * FROM (${strict(`(${text.strict})`)})`
    : `SELECT ${rules.columns} FROM (${guarded(`(${text.guarded})`)}) AS g WHERE g.fault IS NULL`;

function isSkipped({ parsed, errors }: FileCheck, onError: OnError): boolean {
  if (onError.kind !== 'skip' || errors === 0) return false;
  return onError.unit === 'records' ? errors >= onError.from : errors * 100 > onError.from * parsed;
}

const wholeLoad = ({ path }: ScanFile, rows: number): FileLoad => ({
  path,
  rowsParsed: rows,
  rowsLoaded: rows,
  errors: 0,
  faults: [],
});

const notLoaded = ({ path }: ScanFile, { parsed, errors, faults }: FileCheck): FileLoad => ({
  path,
  rowsParsed: parsed,
  rowsLoaded: 0,
  errors,
  faults,
});

const brokenFile = (fault: RecordFault): FileCheck => ({ parsed: 0, errors: 1, faults: [fault] });

function firstFault({ path }: ScanFile, { faults }: FileCheck, { scan }: LoadTask): SkeinError {
  const root = scan.allowedRoots.find((one) => path.startsWith(`${one}/`)) ?? '';
  const [fault] = faults;
  if (fault === undefined) return new SkeinError('INVALID_INPUT_FILE', 'a file of the stage cannot be loaded');
  return faultError(fault, path.slice(root.length + 1), scan.staged.format);
}
