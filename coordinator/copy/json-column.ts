import { JSON_DOCUMENT, NUMBER_MARK } from '#shared/task/json-document.ts';
import type { StagedSource } from '#shared/task/task.ts';
import type { FileFormat, JsonFormat } from '#shared/stage/file-format.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { unreachable } from '#shared/must.ts';
import { printSqlType, type LeafType, type SqlField, type SqlType } from '../plan/sql-type.ts';

type Formats = Pick<JsonFormat, 'dateFormat' | 'timestampFormat'> & { readonly isMarked: boolean };

/** A column as a query sees it, and as files have it. */
export type FileColumn = SqlField & {
  /** The text of its type in the file. */
  readonly read: string;
  /** It is a document of JSON as a whole. */
  readonly isDocument: boolean;
  /** JSON: the type with the names of members as the first file spells them. */
  readonly inFile?: SqlType;
};

/** The column as tasks read it. */
export function sourceColumn(
  { name, type, read, isDocument, inFile = type }: FileColumn,
  format: FileFormat,
): StagedSource['columns'][number] {
  if (format.kind !== 'json') return { name, type: read };
  const whole = { to: type, from: inFile, base: JSON_DOCUMENT, path: '', depth: 0 };
  const own = isDocument ? whole : { ...whole, path: pointer(name) };
  const value = valueOf(own, { ...format, isMarked: false });
  const marked = valueOf(own, { ...format, isMarked: true });
  const json = { read: printSqlType(readType(inFile)), value, marked, ...(isDocument ? { isDocument } : {}) };
  return { name, type: read, json };
}

/** The type with its members spelt as those of another one that have the same names without regard to case. */
export function spelledAs(type: SqlType, found: SqlType | undefined): SqlType {
  switch (type.kind) {
    case 'struct': {
      const spelled = found?.kind === 'struct' ? found.fields : [];
      return {
        ...type,
        fields: type.fields.map(({ name, type: own }) => {
          const alike =
            spelled.find((one) => one.name === name) ??
            spelled.find((one) => foldIdentifier(one.name) === foldIdentifier(name));
          return { name: alike?.name ?? name, type: spelledAs(own, alike?.type) };
        }),
      };
    }
    case 'list':
      return { ...type, element: spelledAs(type.element, found?.kind === 'list' ? found.element : undefined) };
    case 'map':
      return { ...type, value: spelledAs(type.value, found?.kind === 'map' ? found.value : undefined) };
    case 'array':
    case 'decimal':
    case 'enum':
    case 'scalar':
    case 'union':
      return type;
    default:
      return unreachable(type);
  }
}

const VARCHAR: SqlType = { kind: 'scalar', name: 'VARCHAR' };

/**
 * The type that DuckDB's reader of JSON gives: it takes the characters of a text for the bytes of a BLOB, where `CAST` takes `\xAB` for a
 * byte, as it is written; and keys of maps are texts.
 */
function readType(type: SqlType): SqlType {
  switch (type.kind) {
    case 'scalar':
      return type.name === 'BLOB' ? VARCHAR : type;
    case 'list':
    case 'array':
      return { ...type, element: readType(type.element) };
    case 'struct':
      return { ...type, fields: type.fields.map((field) => ({ ...field, type: readType(field.type) })) };
    case 'map':
      return { ...type, key: VARCHAR, value: readType(type.value) };
    case 'decimal':
    case 'enum':
    case 'union':
      return type;
    default:
      return unreachable(type);
  }
}

/** A value in a document: `base` is the expression of a document, and `path` a JSON pointer into it. */
type Value = {
  readonly to: SqlType;
  /** The same type, with the names of members as the document has them. */
  readonly from: SqlType;
  readonly base: string;
  readonly path: string;
  /** The number of lists and maps around it. */
  readonly depth: number;
};

const pointer = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** A value, converted as `read_json` does it: members that a document lacks are NULL, and those that a type lacks are left out. */
function valueOf(value: Value, formats: Formats): string {
  const { to, from, base, path, depth } = value;
  const json = path === '' ? base : `json_extract(${base}, ${quoteLiteral(path)})`;
  const element = (of: SqlType, own: SqlType, at: string): string =>
    valueOf({ to: of, from: own, base: at, path: '', depth: depth + 1 }, formats);
  const each = `e${depth}`;
  if (to.kind === 'struct' && from.kind === 'struct') {
    const members = to.fields.map(({ name, type }, i) => {
      const own = from.fields[i] ?? { name, type };
      const member = { to: type, from: own.type, base, path: `${path}${pointer(own.name)}`, depth };
      return `${quoteIdentifier(name)} := ${valueOf(member, formats)}`;
    });
    const otherwise = `CAST(CAST(${json} AS ${printSqlType(readType(from))}) AS ${printSqlType(to)})`;
    return `CASE WHEN json_type(${json}) = 'OBJECT' THEN struct_pack(${members.join(', ')}) ELSE ${otherwise} END`;
  }
  if (to.kind === 'list' && from.kind === 'list') {
    return `list_transform(CAST(${json} AS JSON[]), lambda ${each}: ${element(to.element, from.element, each)})`;
  }
  if (to.kind === 'map' && from.kind === 'map') {
    const key = `CAST(${each}.key AS ${printSqlType(to.key)})`;
    const entry = `{'key': ${key}, 'value': ${element(to.value, from.value, `${each}.value`)}}`;
    return `map_from_entries(list_transform(map_entries(CAST(${json} AS MAP(VARCHAR, JSON))), lambda ${each}: ${entry}))`;
  }
  const text = `json_extract_string(${base}, ${quoteLiteral(path === '' ? '$' : path)})`;
  return isLeaf(to) ? leafOf(to, { json, text }, formats) : `CAST(${json} AS ${printSqlType(to)})`;
}

const isLeaf = (type: SqlType): type is LeafType =>
  type.kind === 'scalar' || type.kind === 'decimal' || type.kind === 'enum';

const MARK = Array.from(NUMBER_MARK, (sign) => `chr(${sign.charCodeAt(0)})`).join(' || ');
/** The mark and its number within the text of a document. */
const MARKED = String.raw`"\\u000[Bb]\\f\\u000[Bb]\\f([-+0-9.eE]+)"`;
const number = (text: string): string => `substr(${text}, ${NUMBER_MARK.length + 1})`;
const withNumbers = (text: string): string =>
  `system.main.regexp_replace(${text}, ${quoteLiteral(MARKED)}, '\\1', 'g')`;

function leafOf(
  type: LeafType,
  { json, text }: { readonly json: string; readonly text: string },
  { dateFormat, timestampFormat, isMarked }: Formats,
): string {
  const name = printSqlType(type);
  const format = name === 'DATE' ? dateFormat : name === 'TIMESTAMP' ? timestampFormat : null;
  if (format !== null) return `CAST(strptime(${text}, ${quoteLiteral(format)}) AS ${name})`;
  if (name === 'BLOB') return `CAST(${text} AS BLOB)`;
  if (!isMarked) return name === 'VARCHAR' ? text : `CAST(${json} AS ${name})`;
  switch (name) {
    case 'VARCHAR':
      return `CASE WHEN starts_with(${text}, ${MARK}) THEN ${number(text)} ELSE ${withNumbers(text)} END`;
    case 'JSON':
      return `CAST(${withNumbers(`CAST(${json} AS VARCHAR)`)} AS JSON)`;
    default:
      return `CASE WHEN starts_with(${text}, ${MARK}) THEN CAST(${number(text)} AS ${name}) ELSE CAST(${json} AS ${name}) END`;
  }
}
