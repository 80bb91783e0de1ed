import { FAULTS, type RecordFault } from '#shared/task/load-rules.ts';
import { type StagedSource } from '#shared/task/task.ts';
import type { ErrorCode } from '#shared/error.ts';
import { textOf } from '../staged/file-text.ts';
import type { OpenScanned } from '../scan/readable-path.ts';
import { linesOfBytes, linesOfCsvRecords } from './csv-records.ts';
import { dataFault } from './data-fault.ts';
import { linesOfJsonDocuments } from './json-lines.ts';
import { REJECTS } from './csv-texts.ts';
import type { StagedFile } from './staged-file.ts';

/** The result of a look at every record of a file. */
export type FileCheck = {
  readonly parsed: number;
  /** Records that cannot be loaded. */
  readonly errors: number;
  /** The first of them, in the file's order, or as many as were asked for. */
  readonly faults: readonly RecordFault[];
};

/** The parts of its task that a check needs. */
export type CheckTools = {
  readonly source: StagedSource;
  readonly open: OpenScanned;
  /** The values of a query's one column, which is text. */
  readonly texts: (sql: string) => Promise<readonly string[]>;
  /** The task's text, and its guarded one, over the text that reads a file. */
  readonly strict: (from: string) => string;
  readonly guarded: (from: string) => string;
  /** Runs statements that give no rows. */
  readonly run: (sql: string) => void;
  /** Aborts when the task is cancelled. */
  readonly signal: AbortSignal;
};

/** Places of records that DuckDB has rejected, which are in memory while the line of another record is looked for. */
const REJECTED_MAX = 100_000;
/** Characters of a record that a fault shows. */
const RECORD_CHARACTERS_MAX = 200;
/** Characters of DuckDB's message about a rejected record, which holds the value: a field may have megabytes. */
const MESSAGE_CHARACTERS_MAX = 1_000;
/** Faults whose reasons are asked for one by one. */
const REASONS_MAX = 10;

/** Reads a file, and says which of its records cannot be loaded. @throws what is no fault of the file's data */
export async function checkRecordsOf(file: StagedFile, faultsMax: number, tools: CheckTools): Promise<FileCheck> {
  try {
    return await checkRecords(file, faultsMax, tools);
  } catch (error) {
    return { parsed: 0, errors: 1, faults: [dataFault(error)] };
  } finally {
    dropRejects(tools);
  }
}

/**
 * Forgets the records that DuckDB has rejected: what has read a `guarded` text calls it. The next task in this instance would take them for
 * its own.
 */
export function dropRejects({ run }: Pick<CheckTools, 'run'>): void {
  run(`DROP TABLE IF EXISTS ${REJECTS.records}; DROP TABLE IF EXISTS ${REJECTS.scans}`);
}

type Bad = { readonly place: number; readonly fault: string };

function readBad(text: string): Bad {
  const [place, fault] = JSON.parse(text) as [number, string];
  return { place, fault };
}

async function checkRecords(file: StagedFile, faultsMax: number, tools: CheckTools): Promise<FileCheck> {
  const text = `(${tools.guarded(`(${file.guarded})`)}) AS g`;
  const [counts = '[0,0]'] = await tools.texts(
    `SELECT CAST(json_array(count(*), count(g.fault)) AS VARCHAR) FROM ${text}`,
  );
  const [read = 0, bad = 0] = JSON.parse(counts) as number[];
  const rejects = tools.source.format.kind === 'csv' ? await readRejects(tools, faultsMax) : NO_REJECTS;
  const errors = bad + rejects.records;
  if (errors === 0) return { parsed: read, errors, faults: [] };
  const wanted = bad === 0 ? [] : (await tools.texts(badRecords(text, faultsMax))).map(readBad);
  const lines = await linesOf(
    file,
    wanted.map(({ place }) => place),
    tools,
    rejects,
  );
  const before = await file.linesBefore();
  const others: RecordFault[] = [];
  for (const [i, one] of wanted.entries()) {
    const fault = await describe(file, one, { tools, hasReason: i < REASONS_MAX });
    others.push({ ...fault, line: after(before, lines.get(one.place)) });
  }
  const faults = [...others, ...(await describeRejects(file, { ...rejects, before }, tools))].toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0),
  );
  return { parsed: read + rejects.records, errors, faults: faults.slice(0, faultsMax) };
}

const badRecords = (text: string, limit: number): string =>
  `SELECT CAST(json_array(g.p, g.fault) AS VARCHAR) FROM ${text} WHERE g.fault IS NOT NULL ORDER BY g.p LIMIT ${limit}`;

/** A record that DuckDB's reader of CSV has left out. */
type Reject = {
  readonly byte: number;
  readonly type: string;
  readonly column: string | null;
  readonly message: string;
  readonly record: string;
};
type Rejects = { readonly records: number; readonly first: readonly Reject[]; readonly starts: readonly number[] };
const NO_REJECTS: Rejects = { records: 0, first: [], starts: [] };

/** DuckDB counts bytes from 1. */
const BYTE = 'line_byte_position - 1';

async function readRejects({ texts }: CheckTools, limit: number): Promise<Rejects> {
  const [count = '0'] = await texts(`SELECT CAST(count(DISTINCT ${BYTE}) AS VARCHAR) FROM ${REJECTS.records}`);
  if (count === '0') return NO_REJECTS;
  const first = await texts(
    `SELECT CAST(json_array(${BYTE}, any_value(CAST(error_type AS VARCHAR)), any_value(column_name), any_value(left(error_message, ${MESSAGE_CHARACTERS_MAX})),
      any_value(left(csv_line, ${RECORD_CHARACTERS_MAX}))) AS VARCHAR)
      FROM ${REJECTS.records} GROUP BY line_byte_position ORDER BY line_byte_position LIMIT ${limit}`,
  );
  const starts = await texts(
    `SELECT CAST(${BYTE} AS VARCHAR) FROM ${REJECTS.records} GROUP BY line_byte_position ORDER BY line_byte_position LIMIT ${REJECTED_MAX}`,
  );
  return {
    records: Number(count),
    first: first.map((one) => {
      const [byte, type, column, message, record] = JSON.parse(one) as [number, string, string | null, string, string];
      return { byte, type, column, message, record };
    }),
    starts: starts.map(Number),
  };
}

async function describeRejects(
  { text }: StagedFile,
  { first, before }: Rejects & { readonly before: number },
  { open, source, signal }: CheckTools,
): Promise<readonly RecordFault[]> {
  if (first.length === 0 || text === null) return [];
  const offsets = first.map(({ byte }) => byte);
  const lines = await linesOfBytes(textOf(signal, open, text), offsets, source.columns.length === 1);
  return first.map(({ byte, type, column, message, record }) => {
    const isCast = type === 'CAST';
    return {
      code: isCast ? 'INVALID_CAST' : 'INVALID_INPUT_FILE',
      // DuckDB names the column, which stands beside, and ends the sentence.
      message: isCast ? message.slice(message.indexOf('". ') + 3) : message.replace(/\.$/, ''),
      line: after(before, lines.get(byte)),
      column: isCast ? nameOfColumn(column, source) : null,
      record,
    };
  });
}

/** Columns that were found by a header are read under names of our own. */
const nameOfColumn = (column: string | null, source: StagedSource): string | null =>
  source.byName === true ? null : column;

/** Describes the fault of a record, but for its line. */
async function describe(
  file: StagedFile,
  { place, fault }: Bad,
  { tools, hasReason }: { readonly tools: CheckTools; readonly hasReason: boolean },
): Promise<Omit<RecordFault, 'line'>> {
  const column = fault.slice(1);
  if (fault.startsWith(FAULTS.missing)) {
    const message = 'it is NOT NULL, and the record has no value for it';
    return { code: 'NOT_NULL_VIOLATION', message, column, record: null };
  }
  if (column === '') return { code: 'INVALID_INPUT_FILE', message: 'it is no JSON object', column: null, record: null };
  const reason = hasReason ? await reasonOf(file, place, tools) : UNKNOWN;
  return { ...reason, column, record: null };
}

type Reason = { readonly code: ErrorCode; readonly message: string };
const UNKNOWN: Reason = { code: 'INVALID_CAST', message: 'the value cannot be converted' };

/** The error of the one record. */
async function reasonOf(file: StagedFile, place: number, { texts, strict }: CheckTools): Promise<Reason> {
  try {
    await texts(`SELECT CAST(md5(CAST(r AS VARCHAR)) AS VARCHAR) FROM (${strict(`(${file.record(place)})`)}) AS r`);
    return UNKNOWN;
  } catch (error) {
    const { code, message } = dataFault(error);
    return { code, message };
  }
}

/** Adds the number of lines before a part to a line of the part; null for a line that is not known. */
const after = (before: number, line: number | undefined): number | null => (line === undefined ? null : before + line);

/** The lines of records, by their places, in one pass over the text. */
async function linesOf(
  { text, format }: StagedFile,
  places: readonly number[],
  { open, source, signal }: CheckTools,
  rejects: Rejects,
): Promise<ReadonlyMap<number, number>> {
  if (text === null || format.kind === 'parquet') return new Map(places.map((place) => [place, place]));
  const bytes = textOf(signal, open, text);
  return format.kind === 'json'
    ? linesOfJsonDocuments(bytes, format, places)
    : linesOfCsvRecords(bytes, format, { places, rejected: rejects.starts, isOne: source.columns.length === 1 });
}
