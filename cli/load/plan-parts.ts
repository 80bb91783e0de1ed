import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { InputFile } from './parquet-input.ts';

/** The input of one data file (one per partition): several small inputs, or a range of rows of a large one. */
export type Part = {
  readonly inputs: readonly InputFile[];
  readonly rows: { readonly start: number; readonly end: number } | null;
  readonly bytes: number;
};

/**
 * Divides the input into parts of about `targetBytes`, in order. It uses the input files' sizes, which a rewrite roughly preserves.
 *
 *   a 10 MB, b 20 MB, c 1100 MB, d 5 MB; target 512 MB
 *   => [a b] [c rows 0..1/3] [c 1/3..2/3] [c 2/3..end] [d]
 */
export function planParts(inputs: readonly InputFile[], targetBytes: number): readonly Part[] {
  const parts: Part[] = [];
  let small: InputFile[] = [];
  let bytes = 0;
  const flush = (): void => {
    if (small.length > 0) parts.push({ inputs: small, rows: null, bytes });
    small = [];
    bytes = 0;
  };
  for (const input of inputs) {
    if (isDivisible(input, targetBytes)) {
      flush();
      parts.push(...divide(input, targetBytes));
      continue;
    }
    if (bytes + input.sizeBytes > targetBytes) flush();
    small.push(input);
    bytes += input.sizeBytes;
  }
  flush();
  return parts;
}

/** The name that DuckDB gives a row's number in its file. */
const ROW_NUMBER = 'file_row_number';

const isDivisible = (input: InputFile, targetBytes: number): boolean =>
  input.sizeBytes > targetBytes * 1.25 &&
  input.rows > 1 &&
  input.columns.every(({ name }) => foldIdentifier(name) !== ROW_NUMBER);

function divide(input: InputFile, targetBytes: number): readonly Part[] {
  const count = Math.min(input.rows, Math.ceil(input.sizeBytes / targetBytes));
  return Array.from({ length: count }, (_, index) => {
    const start = Math.floor((input.rows * index) / count);
    const end = Math.floor((input.rows * (index + 1)) / count);
    return { inputs: [input], rows: { start, end }, bytes: input.sizeBytes / count };
  });
}
