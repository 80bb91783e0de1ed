import {
  Binary,
  Field,
  Int32,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Utf8,
  type Data,
  type DataType,
} from 'apache-arrow';
import type { ColumnValues, CopiedColumn, ReadRows } from './row-format.ts';

/** The rows as Arrow: a column for each of theirs, in its order, and the number of the line. */
export function copiedSchema(columns: readonly CopiedColumn[]): Schema {
  const fields = columns.map(({ name, kind, element }) => {
    const scalar = (element ?? kind) === 'bytea' ? new Binary() : new Utf8();
    return new Field(name, element === null ? scalar : new List(new Field('l', scalar, true)), true);
  });
  return new Schema([...fields, new Field('line', new Int32(), true)]);
}

export function copiedBatch(
  schema: Schema,
  { rows, lines, columns }: Pick<ReadRows, 'rows' | 'lines' | 'columns'>,
): RecordBatch {
  const types = schema.fields.map(({ type }) => type as DataType);
  const children: Data[] = columns.map((values, i) => columnData(values, types[i]));
  const all = [...children, makeData({ type: new Int32(), length: rows, nullCount: 0, data: lines })];
  const data = makeData({ type: new Struct(schema.fields), length: rows, nullCount: 0, children: all });
  return new RecordBatch(schema, data);
}

function columnData(
  { type, validity, nullCount, offsets, data, lists }: ColumnValues,
  whole: DataType | undefined,
): Data {
  const length = offsets.length - 1;
  const given = { length, nullCount, nullBitmap: validity, valueOffsets: offsets, data };
  const values: Data =
    type === 'bytes' ? makeData({ type: new Binary(), ...given }) : makeData({ type: new Utf8(), ...given });
  if (lists === null) return values;
  return makeData({
    type: whole as List,
    length: lists.offsets.length - 1,
    nullCount: lists.nullCount,
    nullBitmap: lists.validity,
    valueOffsets: lists.offsets,
    child: values,
  });
}
