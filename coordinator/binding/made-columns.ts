import { Bool, Field, Float64, Int32, Int64, Schema, TimestampMicrosecond, Utf8, type DataType } from 'apache-arrow';
import { unreachable } from '#shared/must.ts';
import type { MadeType, MadeValue } from '#shared/made-type.ts';
import { booleans, columnBatch, doubles, int32s, int64s, texts, type ColumnData } from './column-data.ts';

/** A column of rows that Skein makes itself: of SHOW, DESCRIBE, the views of INFORMATION_SCHEMA, and of what a write answers. */
export type MadeColumn = {
  readonly name: string;
  readonly typeName: MadeType;
  readonly type: { readonly kind: 'scalar'; readonly name: MadeType };
  /** As in `OutputColumn`. */
  readonly isMoment?: true;
};

export type MadeRow = readonly MadeValue[];

export const madeColumn = (name: string, type: MadeType): MadeColumn => ({
  name,
  typeName: type,
  type: { kind: 'scalar', name: type },
  ...(type === 'TIMESTAMP WITH TIME ZONE' ? { isMoment: true } : {}),
});

/** Columns of VARCHAR. */
export const textColumns = (names: readonly string[]): readonly MadeColumn[] =>
  names.map((name) => madeColumn(name, 'VARCHAR'));

const ARROW_TYPES: Readonly<Record<MadeType, DataType>> = {
  VARCHAR: new Utf8(),
  INTEGER: new Int32(),
  BIGINT: new Int64(),
  DOUBLE: new Float64(),
  BOOLEAN: new Bool(),
  'TIMESTAMP WITH TIME ZONE': new TimestampMicrosecond('UTC'),
};

export const madeSchema = (columns: readonly MadeColumn[]): Schema =>
  new Schema(columns.map(({ name, typeName }) => new Field(name, ARROW_TYPES[typeName], true)));

/** Encodes rows as an Arrow record batch: the metadata of an IPC message, and its body. */
export const madeBatch = (columns: readonly MadeColumn[], rows: readonly MadeRow[]): { header: Buffer; body: Buffer } =>
  columnBatch(
    rows.length,
    columns.map(({ typeName }, i) =>
      columnData(
        typeName,
        rows.map((row) => row[i] ?? null),
      ),
    ),
  );

const MICROS_PER_MS = 1_000n;

function columnData(type: MadeType, values: readonly MadeValue[]): ColumnData {
  const mapped = <T>(of: (value: NonNullable<MadeValue>) => T): readonly (T | null)[] =>
    values.map((value) => (value === null ? null : of(value)));
  switch (type) {
    case 'VARCHAR':
      return texts(mapped(String));
    case 'INTEGER':
      return int32s(mapped(Number));
    case 'BIGINT':
      return int64s(mapped(BigInt));
    case 'DOUBLE':
      return doubles(mapped(Number));
    case 'BOOLEAN':
      return booleans(mapped((value) => value === true));
    case 'TIMESTAMP WITH TIME ZONE':
      return int64s(mapped((value) => BigInt(Date.parse(String(value))) * MICROS_PER_MS));
    default:
      return unreachable(type);
  }
}
