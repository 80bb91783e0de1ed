import type { MadeType, MadeValue } from '#shared/made-type.ts';
import { madeBatch, madeColumn, textColumns, type MadeColumn, type MadeRow } from '../binding/made-columns.ts';
import { formedType } from './formed-rows.ts';
import type { Encoding, ResultBatch } from './result-sink.ts';

/** The result of a statement that answers neither rows nor a number, where it has to be rows. */
export const STATUS_COLUMNS: readonly MadeColumn[] = textColumns(['status']);

/** Columns of BIGINT. */
export const numberColumns = (names: readonly string[]): readonly MadeColumn[] =>
  names.map((name) => madeColumn(name, 'BIGINT'));

/** The result of a statement that changes rows: how many. */
export const COUNT_COLUMNS: readonly MadeColumn[] = numberColumns(['count']);

/** Encodes rows that the coordinator answers by itself. */
export function encodeMade(encoding: Encoding, columns: readonly MadeColumn[], rows: readonly MadeRow[]): ResultBatch {
  if (encoding === 'json') return { rows: rows.length, header: null, body: Buffer.from(rows.map(jsonRow).join('')) };
  if (encoding === 'arrow') return { rows: rows.length, ...madeBatch(columns, rows) };
  const isText = columns.map(({ type }, i) => formedType(type, encoding.isNative(i)) !== type && !encoding.isNative(i));
  const formed = columns.map((column, i) => (isText[i] === true ? madeColumn(column.name, 'VARCHAR') : column));
  const values = rows.map((row) =>
    row.map((value, i) => (isText[i] === true ? madeText(value, columns[i]?.typeName) : value)),
  );
  return { rows: rows.length, ...madeBatch(formed, values) };
}

/** A value as DuckDB prints it; times are in UTC. */
function madeText(value: MadeValue, type: MadeType | undefined): string | null {
  if (value === null) return null;
  if (type !== 'TIMESTAMP WITH TIME ZONE') return String(value);
  return `${new Date(String(value))
    .toISOString()
    .replace('T', ' ')
    .replace(/(?:\.000|0{0,2})Z$/, '')}+00`;
}

/** As `jsonRows` has DuckDB print the rows of a query, but for times, which are in ISO 8601: `2026-11-05T06:07:08.900Z`. */
const jsonRow = (row: MadeRow): string => `,${JSON.stringify(row.map(jsonValue))}`;

const jsonValue = (value: MadeValue): string | number | boolean | null => {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
};
