import type { FileLoad, RecordFault } from '#shared/task/load-rules.ts';
import { ERRORS } from '#shared/error.ts';
import type { Answer } from '../operation/answer.ts';
import { COPY_ERROR_FORM, COPY_FORM, type FileResult } from '../operation/copy-columns.ts';
import { formAnswer } from '../operation/row-form.ts';
import type { StageFile } from '../stage/stage-files.ts';

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

export const copyAnswer = (results: readonly FileResult[]): Answer => formAnswer(COPY_FORM, results);

/** The errors of VALIDATION_MODE = RETURN_ERRORS. */
export function copyErrors(loads: readonly FileLoad[], location: string): Answer {
  const errors = loads
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .flatMap(({ path, faults }) => {
      const file = path.slice(location.length + 1);
      return faults.map((fault) => ({ ...fault, file, sqlState: ERRORS[fault.code].sqlState }));
    });
  return formAnswer(COPY_ERROR_FORM, errors.slice(0, ERRORS_MAX));
}
