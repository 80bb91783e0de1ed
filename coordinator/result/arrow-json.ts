import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Data } from 'apache-arrow';
import { must, unreachable } from '#shared/must.ts';
import type { SqlType } from '../plan/sql-type.ts';
import type { ResultBatch, RowShape } from '../sink/result-sink.ts';
import { dateText, intervalText, timestampText, timeText } from '#shared/sql/temporal-text.ts';
import { batchDecoder } from './decode-batch.ts';
import { zoneOffsets } from './zone-offsets.ts';

/** Rows that are printed in one turn of the main thread, their values, and the bytes of their batch, by which nested values count. */
const [ROWS_PER_TURN, VALUES_PER_TURN, BYTES_PER_TURN] = [500, 20_000, 64 * 1024];

const rowsPerTurn = (rows: number, columns: number, bytes: number): number =>
  Math.max(
    1,
    Math.floor(
      Math.min(ROWS_PER_TURN, VALUES_PER_TURN / Math.max(1, columns), (BYTES_PER_TURN * rows) / Math.max(1, bytes)),
    ),
  );

/**
 * Prints record batches as the rows of JSON that DuckDB prints for the same query (`sink/json-rows.ts`), some rows at a time: all of a batch,
 * or those from `first` up to `end`.
 */
export function jsonPrinter(
  shape: RowShape,
): (batch: ResultBatch, first?: number, end?: number) => AsyncGenerator<ResultBatch, void> {
  const decode = batchDecoder(shape);
  const offsets = zoneOffsets(shape.timeZone);
  return async function* print(batch, first = 0, end = batch.rows) {
    const { rows, body } = batch;
    const read = decode(batch);
    if (read === undefined) return;
    const columns = shape.columns.map(({ type, isMoment }, i) => {
      const data = must(read.data.children[i], 'a column');
      return isMoment === true ? momentPrinter(data) : valuePrinter(type, data, offsets);
    });
    const turn = rowsPerTurn(rows, columns.length, body.length);
    for (let from = first; from < end; from += turn) {
      if (from > first) await nextTurn();
      const to = Math.min(end, from + turn);
      let text = '';
      for (let row = from; row < to; row += 1) text += `,[${columns.map((print) => print(row)).join(',')}]`;
      yield { rows: to - from, header: null, body: Buffer.from(text) };
    }
  };
}

export type Print = (row: number) => string;
export type Offsets = (ms: number) => number;

const NULL = 'null';

/** Prints the values of a column of this type, whose data has the type that `plainType` makes of it. */
export function valuePrinter(type: SqlType, data: Data, offsets: Offsets): Print {
  const print = anyPrinter(type, data, offsets);
  if (type.kind === 'union') return print;
  return (row) => (data.getValid(row) ? print(row) : NULL);
}

function anyPrinter(type: SqlType, data: Data, offsets: Offsets): Print {
  const child = (i: number, own: SqlType): Print =>
    valuePrinter(own, must(data.children[i], 'a child for each part'), offsets);
  switch (type.kind) {
    case 'scalar':
      return scalarPrinter(type.name, data, offsets);
    case 'decimal':
      return decimal(data, type);
    case 'enum':
      return text(data);
    case 'list':
      return list(data, child(0, type.element));
    case 'array': {
      const item = child(0, type.element);
      const { length } = type;
      return (row) => `[${Array.from({ length }, (_, i) => item(row * length + i)).join(',')}]`;
    }
    case 'struct': {
      const fields = type.fields.map(({ name, type: own }, i) => ({
        name: JSON.stringify(name),
        print: child(i, own),
      }));
      const isNamed = type.fields.some(({ name }) => name !== '');
      if (!isNamed) return (row) => `[${fields.map(({ print }) => print(row)).join(',')}]`;
      return (row) => `{${fields.map(({ name, print }) => `${name}:${print(row)}`).join(',')}}`;
    }
    case 'map':
      return map(type, data, offsets);
    case 'union': {
      const members = type.members.map(({ type: own }, i) => child(i, own));
      const tags = data.typeIds;
      return (row) => members[must(tags[row], 'a tag for each row')]?.(row) ?? NULL;
    }
    default:
      return unreachable(type);
  }
}

const list = (data: Data, item: Print): Print => {
  const { valueOffsets } = data;
  return (row) => {
    const [start, end] = [must(valueOffsets[row], 'an offset'), must(valueOffsets[row + 1], 'an offset')];
    return `[${Array.from({ length: end - start }, (_, i) => item(start + i)).join(',')}]`;
  };
};

function map({ key, value }: Extract<SqlType, { kind: 'map' }>, data: Data, offsets: Offsets): Print {
  const [keys, values] = must(data.children[0], 'the entries of a map').children;
  const printKey = valuePrinter(key, must(keys, 'keys'), offsets);
  const printValue = valuePrinter(value, must(values, 'values'), offsets);
  const isText = key.kind === 'scalar' && key.name === 'VARCHAR';
  const entries = list(data, (i) =>
    isText ? `${printKey(i)}:${printValue(i)}` : `{"key":${printKey(i)},"value":${printValue(i)}}`,
  );
  return isText ? (row) => `{${entries(row).slice(1, -1)}}` : entries;
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const quoted = (value: string): string => `"${value}"`;

function scalarPrinter(name: string, data: Data, offsets: Offsets): Print {
  const numbers = data.values as ArrayLike<number>;
  const bigs = data.values as ArrayLike<bigint>;
  const big = (row: number): bigint => must(bigs[row], 'a value for each row');
  const number = (row: number): number => must(numbers[row], 'a value for each row');
  switch (name) {
    case 'BOOLEAN': {
      const bits = data.values as Uint8Array;
      return (row) => ((must(bits[row >> 3], 'a bit for each row') >> (row & 7)) & 1 ? 'true' : 'false');
    }
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
    case 'UTINYINT':
    case 'USMALLINT':
    case 'UINTEGER':
      return (row) => String(number(row));
    case 'BIGINT':
    case 'UBIGINT':
      return (row) => (big(row) <= SAFE && big(row) >= -SAFE ? String(big(row)) : quoted(String(big(row))));
    case 'HUGEINT':
      return decimal(data, { width: 38, scale: 0 });
    case 'FLOAT':
      return (row) => floatText(number(row), shortestFloat);
    case 'DOUBLE':
      return (row) => floatText(number(row), String);
    case 'BLOB':
      return bytes(data, (value) => quoted(value.toString('base64')));
    case '"NULL"':
      return () => NULL;
    default:
      return temporalPrinter(name, data, offsets) ?? text(data);
  }
}

const PER_SECOND: Readonly<Record<string, bigint>> = {
  TIME: 1_000_000n,
  TIME_NS: 1_000_000_000n,
  TIMESTAMP: 1_000_000n,
  TIMESTAMP_S: 1n,
  TIMESTAMP_MS: 1_000n,
  TIMESTAMP_NS: 1_000_000_000n,
  'TIMESTAMP WITH TIME ZONE': 1_000_000n,
};

function temporalPrinter(name: string, data: Data, offsets: Offsets): Print | undefined {
  if (name === 'DATE') {
    const days = data.values as Int32Array;
    return (row) => quoted(dateText(must(days[row], 'a value for each row')));
  }
  if (name === 'INTERVAL') {
    const bytesOf = data.values as Int32Array;
    const view = new DataView(bytesOf.buffer, bytesOf.byteOffset, bytesOf.byteLength);
    return (row) => {
      const [months, days] = [view.getInt32(16 * row, true), view.getInt32(16 * row + 4, true)];
      return quoted(intervalText(months, days, view.getBigInt64(16 * row + 8, true)));
    };
  }
  const perSecond = PER_SECOND[name];
  if (perSecond === undefined) return undefined;
  const values = data.values as BigInt64Array;
  const part = (row: number): bigint => must(values[row], 'a value for each row');
  if (name.startsWith('TIMESTAMP')) {
    const zone = name === 'TIMESTAMP WITH TIME ZONE' ? offsets : undefined;
    return (row) => quoted(timestampText(part(row), perSecond, zone));
  }
  return (row) => quoted(timeText(part(row), perSecond));
}

/** Prints moments of Skein's own (`OutputColumn`): `2026-11-05T06:07:08.900Z`. */
function momentPrinter(data: Data): Print {
  const micros = data.values as BigInt64Array;
  return (row) => {
    if (!data.getValid(row)) return NULL;
    const ms = Math.floor(Number(must(micros[row], 'a value for each row')) / 1_000);
    return quoted(new Date(ms).toISOString());
  };
}

function bytes(data: Data, print: (value: Buffer) => string): Print {
  const values = data.values as Uint8Array;
  const all = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  const { valueOffsets } = data;
  return (row) => print(all.subarray(valueOffsets[row], valueOffsets[row + 1]));
}

const text = (data: Data): Print => bytes(data, (value) => JSON.stringify(value.toString()));

/** Words of 32 bits in a decimal of 128. */
const WORDS = 4;

/** A decimal is a whole number in two's complement, least significant word first. */
function decimal(data: Data, { width, scale }: { readonly width: number; readonly scale: number }): Print {
  // DuckDB prints no digit before the point where the type has none.
  const digitsMin = scale + (width === scale ? 0 : 1);
  const values = data.values as Uint32Array;
  return (row) => {
    let unsigned = 0n;
    for (let i = WORDS - 1; i >= 0; i -= 1) {
      unsigned = (unsigned << 32n) | BigInt(must(values[row * WORDS + i], 'four words'));
    }
    const unscaled = BigInt.asIntN(128, unsigned);
    const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(digitsMin, '0');
    const point = digits.length - scale;
    const shown = scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
    return quoted(`${unscaled < 0n ? '-' : ''}${shown}`);
  };
}

function floatText(value: number, digits: (value: number) => string): string {
  if (Number.isNaN(value)) return '"NaN"';
  if (!Number.isFinite(value)) return value < 0 ? '"-Infinity"' : '"Infinity"';
  if (Object.is(value, -0)) return '-0.0';
  const shown = digits(value).replace('e+', 'e');
  return /[.e]/.test(shown) ? shown : `${shown}.0`;
}

/** The fewest digits that are this float of 32 bits. */
function shortestFloat(value: number): string {
  for (let digits = 1; digits < 9; digits += 1) {
    const shown = Number(value.toPrecision(digits));
    if (Math.fround(shown) === value) return String(shown);
  }
  return String(value);
}
