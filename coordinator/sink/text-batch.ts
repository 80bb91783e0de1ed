import { printJson, type Json } from '#shared/json.ts';
import { textRecordBatch } from '../binding/text-record-batch.ts';
import type { Encoding, OutputColumn, ResultBatch } from './result-sink.ts';

/** Columns of VARCHAR. */
export const textColumns = (names: readonly string[]): readonly OutputColumn[] =>
  names.map((name) => ({ name, typeName: 'VARCHAR', type: { kind: 'scalar', name: 'VARCHAR' } }));

/** The result of a statement that answers neither rows nor a number, where it has to be rows. */
export const STATUS_COLUMNS: readonly OutputColumn[] = textColumns(['status']);

/** Encodes rows that the coordinator answers by itself; in Arrow every column is text. */
export function textBatch(encoding: Encoding, columns: number, rows: readonly (readonly Json[])[]): ResultBatch {
  if (encoding === 'json') {
    return { rows: rows.length, header: null, body: Buffer.from(rows.map((row) => `,${printJson(row)}`).join('')) };
  }
  return {
    rows: rows.length,
    ...textRecordBatch(
      columns,
      rows.map((row) => row.map(textOf)),
    ),
  };
}

const textOf = (value: Json): string | null => (value === null || typeof value === 'string' ? value : printJson(value));
