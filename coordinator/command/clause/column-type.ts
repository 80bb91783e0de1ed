import { SkeinError } from '#shared/error.ts';
import { tableTypeOfSql, UNWRITABLE } from '#shared/iceberg/type-names.ts';
import { DECIMAL_DIGITS_MAX, type Field, type IcebergType } from '#shared/iceberg/type.ts';
import { foldIdentifier, foldKeyword } from '#shared/sql/fold-identifier.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import { defaultValue } from './default-value.ts';
import { columnExists } from '../../operation/find-column.ts';
import { takeComment } from './comment.ts';
import { takeLiteral } from './literal.ts';

/** Depth of nested types; the catalog has the same limit. Brackets `<` are not counted by the limit of a statement's nesting. */
const TYPE_DEPTH_MAX = 50;
/** Precision and scale of DECIMAL without arguments, as in DuckDB. */
const DECIMAL_DEFAULT = { precision: 18, scale: 3 };
/** Fraction digits of a timestamp in microseconds, and in nanoseconds. */
const MICROS_DIGITS = 6;
const NANOS_DIGITS = 9;

/**
 * Reads a type in DuckDB's spelling (`STRUCT(a INTEGER)`, `BIGINT[]`, `MAP(VARCHAR, DATE)`) or in that of DESCRIBE (`STRUCT<a: INT>`,
 * `ARRAY<BIGINT>`). Field ids are 0.
 * @param column named by errors @throws SYNTAX_ERROR, NOT_SUPPORTED for a type that tables cannot hold
 */
export function takeColumnType(reader: StatementReader, column: string, depth = 0): IcebergType {
  if (depth > TYPE_DEPTH_MAX) {
    throw reader.error('STATEMENT_TOO_COMPLEX', `the type of column ${column} is nested deeper than ${TYPE_DEPTH_MAX}`);
  }
  let type = takeBase(reader, column, depth);
  for (let levels = depth; ; levels += 1) {
    if (levels > TYPE_DEPTH_MAX) {
      throw reader.error(
        'STATEMENT_TOO_COMPLEX',
        `the type of column ${column} is nested deeper than ${TYPE_DEPTH_MAX}`,
      );
    }
    if (!reader.takeSymbol('[')) return type;
    // As in the results of queries, the length of an array is not a part of the column's type.
    reader.takeNumber();
    expectSymbol(reader, ']');
    type = { kind: 'list', element: part('element', type, false) };
  }
}

function takeBase(reader: StatementReader, column: string, depth: number): IcebergType {
  const word = reader.peekWord();
  const opens = reader.peekSymbol('(', 1) || reader.peekSymbol('<', 1);
  if (opens && (word === 'STRUCT' || word === 'ROW')) return takeStruct(reader, column, depth);
  if (opens && (word === 'ARRAY' || word === 'LIST')) {
    reader.word();
    const close = takeOpen(reader);
    const element = takePart(reader, 'element', { column, depth });
    expectSymbol(reader, close);
    return { kind: 'list', element };
  }
  if (opens && word === 'MAP') return takeMap(reader, column, depth);
  if (word === 'DECIMAL' || word === 'NUMERIC' || word === 'DEC') return takeDecimal(reader, column);
  return takeScalar(reader, column);
}

function takeStruct(reader: StatementReader, column: string, depth: number): IcebergType {
  reader.word();
  const close = takeOpen(reader);
  const fields: Field[] = [];
  const names = new Set<string>();
  do {
    const { position } = reader;
    const name = reader.takeName();
    if (name === null || name === '') throw reader.expected('the name of a field');
    if (names.has(foldIdentifier(name))) throw columnExists(`${column}.${name}`, position);
    names.add(foldIdentifier(name));
    reader.takeSymbol(':');
    const path = `${column}.${name}`;
    const field = takePart(reader, name, { column: path, depth });
    const value = reader.takeWord('DEFAULT')
      ? defaultValue(field.type, takeLiteral(reader, 'the default of an Iceberg column'), path)
      : null;
    const doc = takeComment(reader);
    fields.push({
      ...field,
      ...(doc === null ? {} : { doc }),
      ...(value === null ? {} : { initialDefault: value, writeDefault: value }),
    });
  } while (reader.takeSymbol(','));
  expectSymbol(reader, close);
  return { kind: 'struct', fields };
}

function takeMap(reader: StatementReader, column: string, depth: number): IcebergType {
  reader.word();
  const close = takeOpen(reader);
  const key = takePart(reader, 'key', { column, depth });
  expectSymbol(reader, ',');
  const value = takePart(reader, 'value', { column, depth });
  expectSymbol(reader, close);
  return { kind: 'map', key: { ...key, required: true }, value };
}

function takePart(
  reader: StatementReader,
  name: string,
  { column, depth }: { readonly column: string; readonly depth: number },
): Field {
  const type = takeColumnType(reader, column, depth + 1);
  return part(name, type, reader.takeWords('NOT', 'NULL'));
}

const part = (name: string, type: IcebergType, required: boolean): Field => ({ id: 0, name, required, type });

function takeDecimal(reader: StatementReader, column: string): IcebergType {
  reader.word();
  if (!reader.takeSymbol('(')) return { kind: 'decimal', ...DECIMAL_DEFAULT };
  const precision = takeInteger(reader);
  const scale = reader.takeSymbol(',') ? takeInteger(reader) : 0;
  if (precision < 1 || precision > DECIMAL_DIGITS_MAX || scale > precision) {
    throw reader.error(
      'NOT_SUPPORTED',
      `column ${column}: DECIMAL has 1 to ${DECIMAL_DIGITS_MAX} digits, and a scale of at most as many`,
    );
  }
  expectSymbol(reader, ')');
  return { kind: 'decimal', precision, scale };
}

/** A type of one word or a few: `DOUBLE PRECISION`, `TIMESTAMP(6) WITH TIME ZONE`. The length of a text is not kept, as in DuckDB. */
function takeScalar(reader: StatementReader, column: string): IcebergType {
  const { position } = reader;
  const first = reader.takeName();
  if (first === null) throw reader.expected(`the type of column ${column}`);
  let name = foldKeyword(first);
  const refuse = (why: string): never => {
    const message = `column ${column} cannot have the type ${name.slice(0, 100)}: ${why}`;
    throw new SkeinError('NOT_SUPPORTED', message, { position });
  };
  if (name === 'DOUBLE' && reader.takeWord('PRECISION')) name = 'DOUBLE';
  if (name === 'CHARACTER' || name === 'NCHAR') {
    reader.takeWord('VARYING');
    name = 'VARCHAR';
  }
  const early = tableTypeOfSql(name);
  // The members of ENUM and UNION are no number.
  if (early !== undefined && 'hint' in early) return refuse(early.hint);
  const digits = reader.takeSymbol('(') ? takeInteger(reader) : undefined;
  if (digits !== undefined) expectSymbol(reader, ')');
  for (const words of ['WITH', 'WITHOUT']) if (reader.takeWords(words, 'TIME', 'ZONE')) name += ` ${words} TIME ZONE`;
  const found = tableTypeOfSql(name);
  if (found === undefined) {
    throw new SkeinError('SYNTAX_ERROR', `column ${column}: there is no type ${name.slice(0, 100)}`, { position });
  }
  if ('hint' in found) return refuse(found.hint);
  const { type } = found;
  if (UNWRITABLE.has(type.kind)) return refuse('its values cannot be written');
  if (digits === undefined || type.kind === 'string') return type;
  if (type.kind === 'binary') return refuse('binary values of one length cannot be written: use BLOB');
  if (type.kind === 'time' && digits <= MICROS_DIGITS) return type;
  const isTimestamp = type.kind === 'timestamp' || type.kind === 'timestamptz';
  if (isTimestamp && digits <= MICROS_DIGITS) return type;
  if (type.kind === 'timestamp' && digits <= NANOS_DIGITS) return { kind: 'timestamp_ns' };
  return refuse(`it cannot have the argument ${digits}`);
}

function takeInteger(reader: StatementReader): number {
  const text = reader.takeNumber();
  if (text === null || !/^\d{1,9}$/.test(text)) throw reader.expected('a whole number');
  return Number(text);
}

function takeOpen(reader: StatementReader): ')' | '>' {
  if (reader.takeSymbol('<')) return '>';
  expectSymbol(reader, '(');
  return ')';
}

function expectSymbol(reader: StatementReader, symbol: string): void {
  if (!reader.takeSymbol(symbol)) throw reader.expected(`'${symbol}'`);
}
