import { TimeUnit, Type } from '@uwdata/flechette';
import { dateText, intervalText, timestampText, timeText } from '#shared/sql/temporal-text.ts';
import { printBlob, printDecimal, printFloat } from './print-scalar.ts';
import { quoteNested } from './quote-nested.ts';
import { offsetAt } from './zone-offset.ts';

/** Values of a column in one record batch, as the decoder has them. */
export type ArrowBatch = {
  readonly length: number;
  readonly nullCount: number;
  readonly type: ArrowType;
  readonly values?: ArrayLike<unknown>;
  readonly offsets?: ArrayLike<number | bigint>;
  readonly children?: readonly ArrowBatch[];
  readonly validity?: unknown;
  readonly typeIds?: ArrayLike<number>;
  isValid(index: number): boolean;
  at(index: number): unknown;
};

type ArrowType = {
  readonly typeId: number;
  readonly bitWidth?: number;
  readonly scale?: number;
  readonly unit?: number;
  readonly precision?: number;
  readonly timezone?: string | null;
  readonly stride?: number;
  readonly typeMap?: Readonly<Record<number, number>>;
  readonly children?: readonly { readonly name: string }[];
};

const isNull = (batch: ArrowBatch, index: number): boolean =>
  batch.type.typeId === Type.Union
    ? batch.at(index) === null
    : batch.nullCount > 0 && batch.validity !== undefined && !batch.isValid(index);

/** The text of a value, as DuckDB casts it to VARCHAR; null for NULL. Every digit is exact. */
export function printValue(batch: ArrowBatch, index: number): string | null {
  if (isNull(batch, index)) return null;
  const { type } = batch;
  switch (type.typeId) {
    case Type.Bool:
    case Type.Int:
    case Type.Utf8:
      return String(batch.at(index));
    case Type.Float:
      return printFloat(batch.at(index) as number, type.precision === 1);
    case Type.Decimal:
      return printDecimal(BigInt(batch.at(index) as bigint | number), type.scale ?? 0, type.precision ?? 0);
    case Type.Binary:
      return printBlob(batch.at(index) as Uint8Array);
    case Type.Date:
      // The decoder makes milliseconds of days.
      return dateText(Number((batch.values as ArrayLike<number>)[index]));
    case Type.Time:
      return timeText(
        BigInt(batch.at(index) as bigint | number),
        perSecond(type.unit === TimeUnit.NANOSECOND ? type.unit : TimeUnit.MICROSECOND),
      );
    case Type.Timestamp:
      return timestampText(batch.at(index) as bigint, perSecond(type.unit), offsetsOf(type.timezone ?? null));
    case Type.Interval:
      return interval(batch, index);
    default:
      return nested(batch, index);
  }
}

/** Parts of a second that a unit of time counts. */
const perSecond = (unit: number | undefined): bigint =>
  unit === TimeUnit.SECOND
    ? 1n
    : unit === TimeUnit.MILLISECOND
      ? 1_000n
      : unit === TimeUnit.NANOSECOND
        ? 1_000_000_000n
        : 1_000_000n;

/** @param zone null for a timestamp without a zone */
const offsetsOf = (zone: string | null): ((ms: number) => number) | undefined =>
  zone === null ? undefined : (ms) => offsetAt(zone, Math.floor(ms / 1_000));

/** Months, days and nanoseconds; read here, because the decoder makes a double of the last. */
function interval({ values }: ArrowBatch, index: number): string {
  const bytes = values as unknown as Uint8Array;
  const view = new DataView(bytes.buffer, bytes.byteOffset + index * 16, 16);
  return intervalText(view.getInt32(0, true), view.getInt32(4, true), view.getBigInt64(8, true));
}

function nested(batch: ArrowBatch, index: number): string | null {
  const { type, children = [], offsets } = batch;
  const [first] = children;
  switch (type.typeId) {
    case Type.List:
      return list(first, Number(offsets?.[index] ?? 0), Number(offsets?.[index + 1] ?? 0));
    case Type.FixedSizeList: {
      const stride = type.stride ?? 0;
      return list(first, index * stride, (index + 1) * stride);
    }
    case Type.Struct: {
      const names = type.children ?? [];
      // A struct without names has its fields named by their positions.
      return `{${children.map((child, i) => `'${names[i]?.name.replaceAll("'", "\\'") ?? ''}': ${member(child, index)}`).join(', ')}}`;
    }
    case Type.Map: {
      const [keys, values] = first?.children ?? [];
      const entries: string[] = [];
      for (let at = Number(offsets?.[index] ?? 0); at < Number(offsets?.[index + 1] ?? 0); at += 1) {
        entries.push(`${member(keys, at)}=${member(values, at)}`);
      }
      return `{${entries.join(', ')}}`;
    }
    case Type.Union: {
      const child = children[type.typeMap?.[batch.typeIds?.[index] ?? 0] ?? 0];
      return child === undefined ? null : printValue(child, index);
    }
    default:
      return String(batch.at(index));
  }
}

function list(items: ArrowBatch | undefined, from: number, to: number): string {
  const texts: string[] = [];
  for (let at = from; at < to; at += 1) texts.push(member(items, at));
  return `[${texts.join(', ')}]`;
}

/** A value within another one: texts that would be read as something else have quotes. */
function member(batch: ArrowBatch | undefined, index: number): string {
  const text = batch === undefined ? null : printValue(batch, index);
  if (batch === undefined || text === null) return 'NULL';
  return isText(batch, index) ? quoteNested(text) : text;
}

const SCALAR_TEXTS: ReadonlySet<number> = new Set([
  Type.Utf8,
  Type.Binary,
  Type.Date,
  Type.Time,
  Type.Timestamp,
  Type.Interval,
]);

/** Whether the member is printed by its own text, and not in brackets of its own. */
function isText(batch: ArrowBatch, index: number): boolean {
  if (batch.type.typeId !== Type.Union) return SCALAR_TEXTS.has(batch.type.typeId);
  const child = batch.children?.[batch.type.typeMap?.[batch.typeIds?.[index] ?? 0] ?? 0];
  return child !== undefined && isText(child, index);
}
