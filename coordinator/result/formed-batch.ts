import { DataType, type Data } from 'apache-arrow';
import { must } from '#shared/must.ts';
import {
  booleans,
  bytes,
  columnBatch,
  doubles,
  floats,
  int16s,
  int32s,
  int64s,
  listsOf,
  texts,
  type ColumnData,
} from '../binding/column-data.ts';
import type { SqlType } from '../plan/sql-type.ts';
import { formedType, isPlainList, postgresIntervalText, type ColumnForms } from '../sink/formed-rows.ts';
import type { ResultBatch, RowShape } from '../sink/result-sink.ts';
import { valuePrinter, type Offsets, type Print } from './arrow-json.ts';
import { batchDecoder } from './decode-batch.ts';
import { zoneOffsets } from './zone-offsets.ts';

/** Makes a column of these rows. */
type MakeColumn = (rows: readonly number[]) => ColumnData;

type Form = { readonly isNative: boolean; readonly offsets: Offsets };

/**
 * Gives rows of kept record batches the form that `sink/formed-rows.ts` has DuckDB give them: those of a batch from `first` up to `end`, which
 * are few enough for one turn of the event loop.
 */
export function batchFormer(
  shape: RowShape,
  { isNative }: ColumnForms,
): (batch: ResultBatch, first: number, end: number) => ResultBatch {
  const decode = batchDecoder(shape);
  const offsets = zoneOffsets(shape.timeZone);
  return (batch, first, end) => {
    const { data } = must(decode(batch), 'a batch has rows');
    const rows = Array.from({ length: end - first }, (_, i) => first + i);
    const columns = shape.columns.map(({ type }, i) =>
      columnMaker(type, must(data.children[i], 'a column'), { isNative: isNative(i), offsets })(rows),
    );
    return columnBatch(rows.length, columns);
  };
}

function columnMaker(type: SqlType, data: Data, form: Form): MakeColumn {
  if (isPlainList(type)) return listMaker(type, data, form);
  const of =
    <T>(make: (values: readonly (T | null)[]) => ColumnData, value: (row: number) => T): MakeColumn =>
    (rows) =>
      make(rows.map((row) => (data.getValid(row) ? value(row) : null)));
  const formed = formedType(type, form.isNative);
  const numbers = data.values as ArrayLike<number>;
  const number = (row: number): number => must(numbers[row], 'a value for each row');
  switch (formed.kind === 'scalar' ? formed.name : '') {
    case 'VARCHAR': {
      if (DataType.isUtf8(data.type)) return of(bytes, bytesOf(data));
      const print =
        form.isNative && isScalar(type, 'INTERVAL') ? intervalParts(data) : textOf(type, data, form.offsets);
      return of(texts, print);
    }
    case 'BOOLEAN':
      return of(booleans, (row) => ((number(row >> 3) >> (row & 7)) & 1) === 1);
    case 'FLOAT':
      return of(floats, number);
    case 'DOUBLE':
      return of(doubles, number);
    case 'SMALLINT':
      return of(int16s, number);
    case 'INTEGER':
    case 'DATE':
      return of(int32s, number);
    case 'BIGINT':
    case 'TIME':
      return of(int64s, number);
    case 'TIMESTAMP':
    case 'TIMESTAMP WITH TIME ZONE':
      return of(int64s, micros(type, data));
    case 'BLOB':
      return of(bytes, bytesOf(data));
    default:
      throw new Error('invariant: every column has a form');
  }
}

function listMaker(type: Extract<SqlType, { kind: 'list' | 'array' }>, data: Data, form: Form): MakeColumn {
  const items = columnMaker(type.element, must(data.children[0], 'a list has items'), form);
  const offsets = data.valueOffsets;
  const begin = (row: number): number =>
    type.kind === 'array' ? row * type.length : must(offsets[row], 'an offset for each list');
  return (rows) => {
    const lengths = rows.map((row) => (data.getValid(row) ? begin(row + 1) - begin(row) : null));
    const places = rows.flatMap((row, i) => Array.from({ length: lengths[i] ?? 0 }, (_, item) => begin(row) + item));
    return listsOf(lengths, items(places));
  };
}

const isScalar = (type: SqlType, name: string): boolean => type.kind === 'scalar' && type.name === name;

function bytesOf(data: Data): (row: number) => Buffer {
  const values = data.values as Uint8Array;
  const all = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  const { valueOffsets } = data;
  return (row) => all.subarray(valueOffsets[row], valueOffsets[row + 1]);
}

const DATES: ReadonlySet<string> = new Set([
  'DATE',
  'TIMESTAMP',
  'TIMESTAMP_S',
  'TIMESTAMP_MS',
  'TIMESTAMP WITH TIME ZONE',
]);

/** Values as Postgres prints them. */
function textOf(type: SqlType, data: Data, offsets: Offsets): Print {
  if (isScalar(type, 'BLOB')) {
    const value = bytesOf(data);
    return (row) => `\\x${value(row).toString('hex')}`;
  }
  const print = valuePrinter(type, data, offsets);
  if (type.kind === 'decimal') return (row) => unquoted(print(row));
  // Nested values are printed as JSON.
  if (type.kind !== 'scalar') return print;
  if (type.name === 'INTERVAL') return (row) => postgresIntervalText(unquoted(print(row)));
  if (!DATES.has(type.name)) return (row) => unquoted(print(row));
  return (row) => {
    const text = unquoted(print(row));
    return text.includes(' (BC)') ? `${text.replace(' (BC)', '')} BC` : text;
  };
}

/** Numbers and times have nothing in them that JSON would escape. */
const unquoted = (json: string): string => (json.startsWith('"') ? json.slice(1, -1) : json);

const NANOS_PER_MICRO = 1_000n;

/** Months, days and microseconds, as `formedRows` has them. */
function intervalParts(data: Data): Print {
  const words = data.values as Int32Array;
  const view = new DataView(words.buffer, words.byteOffset, words.byteLength);
  return (row) => {
    const [months, days] = [view.getInt32(16 * row, true), view.getInt32(16 * row + 4, true)];
    return `${months} ${days} ${view.getBigInt64(16 * row + 8, true) / NANOS_PER_MICRO}`;
  };
}

const INFINITE = 2n ** 63n - 1n;

/** The microseconds of timestamps in seconds, milliseconds and nanoseconds. */
function micros(type: SqlType, data: Data): (row: number) => bigint {
  const values = data.values as BigInt64Array;
  const value = (row: number): bigint => must(values[row], 'a value for each row');
  const name = type.kind === 'scalar' ? type.name : '';
  const times = name === 'TIMESTAMP_S' ? 1_000_000n : name === 'TIMESTAMP_MS' ? 1_000n : 1n;
  const divisor = name === 'TIMESTAMP_NS' ? NANOS_PER_MICRO : 1n;
  return (row) => {
    const own = value(row);
    return own === INFINITE || own === -INFINITE ? own : (own * times) / divisor;
  };
}
