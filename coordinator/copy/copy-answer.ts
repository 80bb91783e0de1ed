import type { FileLoad, RecordFault } from '#proto/load-rules.ts';
import { ERRORS } from '#shared/error.ts';
import { textResult, type Answer } from '../operation/answer.ts';
import { COPY_COLUMNS, COPY_ERROR_COLUMNS } from '../operation/copy-columns.ts';
import type { StageFile } from '../stage/stage-files.ts';

/** How a file went. */
export type FileResult = {
  /** In the stage. */
  readonly file: string;
  readonly status: 'LOADED' | 'PARTIALLY_LOADED' | 'LOAD_FAILED' | 'LOAD_SKIPPED';
  readonly parsed: number;
  readonly loaded: number;
  readonly errors: number;
  readonly first: Pick<RecordFault, 'message' | 'line'> | null;
};

/** Errors that a validation answers with, at most. */
export const ERRORS_MAX = 10_000;

/** One result for each file, of which tasks may have read parts. */
export function copyResults(
  files: readonly Pick<StageFile, 'path'>[],
  loads: readonly FileLoad[],
  location: string,
): readonly FileResult[] {
  const byPath = Map.groupBy(loads, ({ path }) => path.slice(location.length + 1));
  return files.map(({ path }) => {
    const parts = byPath.get(path) ?? [];
    const sum = (of: (part: FileLoad) => number): number => parts.reduce((total, part) => total + of(part), 0);
    const [parsed, loaded, errors] = [
      sum((one) => one.rowsParsed),
      sum((one) => one.rowsLoaded),
      sum((one) => one.errors),
    ];
    const [first] = sortedFaults(parts);
    const status = errors === 0 ? 'LOADED' : loaded > 0 ? 'PARTIALLY_LOADED' : 'LOAD_FAILED';
    return { file: path, status, parsed, loaded, errors, first: first === undefined ? null : withColumn(first) };
  });
}

const sortedFaults = (parts: readonly FileLoad[]): readonly RecordFault[] =>
  parts.flatMap(({ faults }) => faults).toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));

const withColumn = ({ message, line, column }: RecordFault): Pick<RecordFault, 'message' | 'line'> => ({
  message: column === null ? message : `column ${column}: ${message}`,
  line,
});

export const copyAnswer = (results: readonly FileResult[]): Answer =>
  textResult(
    COPY_COLUMNS,
    results.map(({ file, status, parsed, loaded, errors, first }) => [
      file,
      status,
      String(parsed),
      String(loaded),
      String(errors),
      first?.message ?? null,
      textOf(first?.line),
    ]),
  );

const textOf = (line: number | null | undefined): string | null =>
  line === null || line === undefined ? null : String(line);

/** The errors of VALIDATION_MODE = RETURN_ERRORS. */
export function copyErrors(loads: readonly FileLoad[], location: string): Answer {
  const rows = loads
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .flatMap(({ path, faults }) =>
      faults.map(({ code, message, line, column, record }) => [
        message,
        path.slice(location.length + 1),
        textOf(line),
        column,
        code,
        ERRORS[code].sqlState,
        record,
      ]),
    );
  return textResult(COPY_ERROR_COLUMNS, rows.slice(0, ERRORS_MAX));
}
