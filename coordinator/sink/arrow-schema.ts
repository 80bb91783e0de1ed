import { Decimal, Field, FixedSizeList, List, Map_, Schema, SparseUnion, Struct, type DataType } from 'apache-arrow';
import { must, unreachable } from '#shared/must.ts';
import type { SqlField, SqlType } from '../plan/sql-type.ts';
import { ARROW_SCALARS } from './arrow-scalars.ts';
import { plainType } from './plain-type.ts';
import type { RowShape } from './result-sink.ts';

/** Metadata key of a field that holds the SQL type of its column, which `plainType` may have replaced. */
const SQL_TYPE_KEY = 'skein.type';

const DECIMAL_BITS = 128;

/** The Arrow schema of a result, by the names and types that planning fixed. */
export const arrowSchema = ({ columns, timeZone }: RowShape): Schema =>
  new Schema(
    columns.map(
      ({ name, type, typeName }) =>
        new Field(name, arrowType(plainType(type), timeZone), true, new Map([[SQL_TYPE_KEY, typeName]])),
    ),
  );

function arrowType(type: SqlType, timeZone: string): DataType {
  const fieldOf = ({ name, type: own }: SqlField): Field => new Field(name, arrowType(own, timeZone), true);
  switch (type.kind) {
    case 'scalar':
      return must(ARROW_SCALARS[type.name], 'plainType leaves types that have an Arrow form')(timeZone);
    case 'decimal':
      return new Decimal(type.scale, type.width, DECIMAL_BITS);
    case 'enum':
      throw new Error('invariant: plainType leaves no ENUM');
    case 'list':
      return new List(fieldOf({ name: 'l', type: type.element }));
    case 'array':
      return new FixedSizeList(type.length, fieldOf({ name: 'l', type: type.element }));
    case 'struct':
      return new Struct(type.fields.map(fieldOf));
    case 'map': {
      const entry = new Struct([
        new Field('key', arrowType(type.key, timeZone), false),
        fieldOf({ name: 'value', type: type.value }),
      ]);
      return new Map_(new Field('entries', entry, false));
    }
    case 'union':
      return new SparseUnion(
        type.members.map((_, i) => i),
        type.members.map(fieldOf),
      );
    default:
      return unreachable(type);
  }
}
