import type { MadeValue } from '#shared/made-type.ts';
import { madeBatch, madeColumn, textColumns, type MadeColumn, type MadeRow } from '../binding/made-columns.ts';
import type { Encoding, ResultBatch } from './result-sink.ts';

/** The result of a statement that answers neither rows nor a number, where it has to be rows. */
export const STATUS_COLUMNS: readonly MadeColumn[] = textColumns(['status']);

/** Columns of BIGINT. */
export const numberColumns = (names: readonly string[]): readonly MadeColumn[] =>
  names.map((name) => madeColumn(name, 'BIGINT'));

/** The result of a statement that changes rows: how many. */
export const COUNT_COLUMNS: readonly MadeColumn[] = numberColumns(['count']);

/** Encodes rows that the coordinator answers by itself. */
export const encodeMade = (encoding: Encoding, columns: readonly MadeColumn[], rows: readonly MadeRow[]): ResultBatch =>
  encoding === 'json'
    ? { rows: rows.length, header: null, body: Buffer.from(rows.map(jsonRow).join('')) }
    : { rows: rows.length, ...madeBatch(columns, rows) };

/** As `jsonRows` has DuckDB print the rows of a query, but for times, which are in ISO 8601: `2026-11-05T06:07:08.900Z`. */
const jsonRow = (row: MadeRow): string => `,${JSON.stringify(row.map(jsonValue))}`;

const jsonValue = (value: MadeValue): string | number | boolean | null => {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
};
