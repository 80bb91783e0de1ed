import { SkeinError } from '#shared/error.ts';
import type { ValueKind } from '../../../arrival/postgres/value-kind.ts';
import { must } from '#shared/must.ts';
import { isPresent, type ArrowColumn, type ArrowLayout } from './arrow-columns.ts';
import { arrayCells } from './array-cells.ts';
import type { Cells } from './data-rows.ts';
import { printFloat4, printFloat8 } from './float-text.ts';
import { GrowingBytes } from './growing-bytes.ts';
import { writeInterval, writeNumeric, writeUuid } from './parsed-values.ts';
import { oidOfKind, type PostgresColumn, type VectorType } from '../message/postgres-type.ts';
import { writeVector } from './vector-cells.ts';

export type CellForm = {
  readonly kind: ValueKind;
  readonly element: ValueKind | null;
  readonly isBinary: boolean;
  /** The type of the elements; absent: that of their kind. */
  readonly elementOid?: number;
  /** The text is that of a vector. */
  readonly vector?: VectorType;
};

/** @throws NOT_SUPPORTED for a column that has no binary form */
export function cellForm({ name, kind, element, elementOid, binary }: PostgresColumn, isBinary: boolean): CellForm {
  const form = { kind, element: element ?? null, isBinary };
  if (elementOid !== undefined) return { ...form, elementOid };
  if (binary === undefined || !isBinary) return form;
  if (binary !== 'none') return { ...form, vector: binary };
  throw new SkeinError(
    'NOT_SUPPORTED',
    `the column ${name} names an object, which has no binary form here; cast it to oid or to text`,
  );
}

/** Kinds whose values have the same number of bytes in Arrow, when they come in binary. */
const WIDTHS: Partial<Readonly<Record<ValueKind, number>>> = {
  int2: 2,
  int4: 4,
  int8: 8,
  oid: 8,
  float4: 4,
  float8: 8,
  date: 4,
  time: 8,
  timestamp: 8,
  timestamptz: 8,
};

const isFloat = (kind: ValueKind): boolean => kind === 'float4' || kind === 'float8';

/** How `formedRows` has the values of a column lie. */
export function cellLayout({ kind, element, isBinary }: CellForm): ArrowLayout {
  if (kind === 'bool') return { kind: 'bits' };
  if (kind === 'array') {
    return { kind: 'list', element: cellLayout({ kind: element ?? 'text', element: null, isBinary }) };
  }
  const isFixed = isFloat(kind) || (isBinary && WIDTHS[kind] !== undefined);
  return { kind: isFixed ? 'fixed' : 'varying' };
}

/** Makes the values of the rows from `from` to `to`. */
export function cellsOf(column: ArrowColumn, form: CellForm, from: number, to: number): Cells {
  const { nulls } = column;
  const present = (row: number): boolean => isPresent(nulls, from + row);
  const { kind, isBinary } = form;
  if (kind === 'array') {
    const element = form.element ?? 'text';
    const items = must(column.items, 'a list has items');
    const elements = (first: number, last: number): Cells =>
      cellsOf(items, { kind: element, element: null, isBinary }, first, last);
    const oid = form.elementOid ?? oidOfKind(element);
    return { isPresent: present, ...arrayCells(column, { elements, oid, isBinary }, from, to) };
  }
  if (kind === 'bool') return { isPresent: present, ...bools(column.data, isBinary, from, to) };
  const width = WIDTHS[kind];
  if (isFloat(kind) && !isBinary) return { isPresent: present, ...floatTexts(column, kind, from, to) };
  if (width !== undefined && isBinary) return { isPresent: present, ...fixed(column.data, kind, width, from, to) };
  const { vector } = form;
  const write = vector !== undefined ? writeVector(vector) : isBinary ? WRITERS[kind] : undefined;
  if (write !== undefined) return { isPresent: present, ...written(column, write, from, to) };
  const { offsets, data } = column;
  return { isPresent: present, width: null, offsets: offsets.subarray(from, to + 1), bytes: data };
}

type Bytes = Omit<Cells, 'isPresent'>;
const NO_OFFSETS = new Int32Array(1);
const [T, F] = [0x74, 0x66];

function bools(bits: Buffer, isBinary: boolean, from: number, to: number): Bytes {
  const bytes = Buffer.allocUnsafe(to - from);
  const [yes, no] = isBinary ? [1, 0] : [T, F];
  for (let i = from; i < to; i += 1) bytes[i - from] = (((bits[i >> 3] ?? 0) >> (i & 7)) & 1) === 1 ? yes : no;
  return { width: 1, offsets: NO_OFFSETS, bytes };
}

/** Numbers from Arrow's order of bytes to the network's, and times from their epoch to Postgres'. */
function fixed(data: Buffer, kind: ValueKind, width: number, from: number, to: number): Bytes {
  if (kind === 'oid') return numbers(data, from, to);
  const bytes = Buffer.from(data.subarray(from * width, to * width));
  if (kind === 'date') moveDates(bytes);
  if (kind === 'timestamp' || kind === 'timestamptz') moveTimestamps(bytes);
  if (width === 2) bytes.swap16();
  else if (width === 4) bytes.swap32();
  else bytes.swap64();
  return { width, offsets: NO_OFFSETS, bytes };
}

/** Numbers of objects: their low halves. */
function numbers(data: Buffer, from: number, to: number): Bytes {
  const bytes = Buffer.allocUnsafe((to - from) * 4);
  for (let i = from; i < to; i += 1) bytes.writeUInt32BE(data.readUInt32LE(i * 8), (i - from) * 4);
  return { width: 4, offsets: NO_OFFSETS, bytes };
}

/** Days from 1970-01-01 to 2000-01-01; the ends of the numbers are the infinities. */
const EPOCH_DAYS = 10_957;
const [INT32_MAX, INT32_MIN] = [0x7f_ff_ff_ff, -0x80_00_00_00];

function moveDates(bytes: Buffer): void {
  for (let at = 0; at < bytes.length; at += 4) {
    const days = bytes.readInt32LE(at);
    if (days === INT32_MAX) continue;
    bytes.writeInt32LE(days === -INT32_MAX ? INT32_MIN : Math.max(days - EPOCH_DAYS, INT32_MIN), at);
  }
}

/** Microseconds of those days, in two halves. */
const EPOCH_MICROS = 946_684_800_000_000;
const UINT32 = 2 ** 32;
const EPOCH_HIGH = Math.floor(EPOCH_MICROS / UINT32);
const EPOCH_LOW = EPOCH_MICROS % UINT32;

function moveTimestamps(bytes: Buffer): void {
  for (let at = 0; at < bytes.length; at += 8) {
    const low = bytes.readUInt32LE(at);
    const high = bytes.readInt32LE(at + 4);
    if (high === INT32_MAX && low === UINT32 - 1) continue;
    if (high === INT32_MIN && low <= 1) {
      bytes.writeUInt32LE(0, at);
      continue;
    }
    const less = low - EPOCH_LOW;
    bytes.writeUInt32LE(less < 0 ? less + UINT32 : less, at);
    bytes.writeInt32LE(high - EPOCH_HIGH - (less < 0 ? 1 : 0), at + 4);
  }
}

function floatTexts({ nulls, data }: ArrowColumn, kind: ValueKind, from: number, to: number): Bytes {
  const out = new GrowingBytes();
  const offsets = new Int32Array(to - from + 1);
  for (let i = from; i < to; i += 1) {
    if (isPresent(nulls, i)) {
      out.ascii(kind === 'float4' ? printFloat4(data.readFloatLE(i * 4)) : printFloat8(data.readDoubleLE(i * 8)));
    }
    offsets[i - from + 1] = out.length;
  }
  return { width: null, offsets, bytes: out.written };
}

type Writer = (out: GrowingBytes, bytes: Buffer, begin: number, end: number) => void;

const JSONB_VERSION = 1;
/** Kinds whose binary form is made of text. */
const WRITERS: Partial<Readonly<Record<ValueKind, Writer>>> = {
  numeric: writeNumeric,
  uuid: writeUuid,
  interval: writeInterval,
  jsonb: (out, bytes, begin, end) => {
    out.byte(JSONB_VERSION);
    out.copy(bytes, begin, end);
  },
};

function written({ nulls, offsets: places, data }: ArrowColumn, write: Writer, from: number, to: number): Bytes {
  const out = new GrowingBytes();
  const offsets = new Int32Array(to - from + 1);
  for (let i = from; i < to; i += 1) {
    if (isPresent(nulls, i)) write(out, data, places[i] ?? 0, places[i + 1] ?? 0);
    offsets[i - from + 1] = out.length;
  }
  return { width: null, offsets, bytes: out.written };
}
