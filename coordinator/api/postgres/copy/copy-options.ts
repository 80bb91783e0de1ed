import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import type { RowFormat } from '../../../arrival/copied/row-format.ts';
import type { StatementReader } from '../../../statement/statement-reader.ts';
import { WireError } from '../message/wire-error.ts';

/** How the rows of a COPY are written, and how those of some columns. */
export type CopyForm = RowFormat & {
  /** Columns whose values always stand in quotes (of COPY TO). */
  readonly forceQuote: CopyColumns;
  /** Columns whose values are never NULL (of COPY FROM), and those whose values may be even in quotes. */
  readonly forceNotNull: CopyColumns;
  readonly forceNull: CopyColumns;
};

/** Names of columns, or all. */
type CopyColumns = readonly string[] | '*';

type Given = Partial<{ -readonly [key in keyof CopyForm]: CopyForm[key] }> & { encoding?: string; freeze?: boolean };

const notSupported = (message: string): WireError => new WireError('0A000', message);
const invalid = (message: string): WireError => new WireError('22023', message);

type Copied = { readonly direction: 'in' | 'out'; readonly isBinary: boolean };

/** `[WITH] (name value, ...)`, or words one after the other as before Postgres 9. @throws SYNTAX_ERROR, WireError */
export function takeCopyOptions(reader: StatementReader, { direction, isBinary }: Copied): CopyForm {
  const given: Given = isBinary ? { format: 'binary' } : {};
  // Before Postgres 7.3 delimiters stood before WITH.
  if (reader.takeWords('USING', 'DELIMITERS') || reader.takeWord('DELIMITERS')) set(given, 'delimiter', textOf(reader));
  reader.takeWord('WITH');
  if (reader.takeSymbol('(')) takeNamed(reader, given);
  else takeWords(reader, given);
  return checked(given, direction);
}

function takeNamed(reader: StatementReader, given: Given): void {
  do {
    const name = foldKeyword(reader.takeName() ?? '');
    if (!NAMED.has(name)) throw new WireError('42601', `the option "${name}" of COPY is not known`);
    takeOption(reader, name, given);
  } while (reader.takeSymbol(','));
  if (!reader.takeSymbol(')')) throw reader.expected("')'");
}

const NAMED: ReadonlySet<string> = new Set(
  `FORMAT FREEZE DELIMITER NULL HEADER QUOTE ESCAPE FORCE_QUOTE FORCE_NOT_NULL FORCE_NULL ENCODING DEFAULT ON_ERROR
  REJECT_LIMIT LOG_VERBOSITY`.split(/\s+/),
);

function takeOption(reader: StatementReader, name: string, given: Given): void {
  switch (name) {
    case 'FORMAT':
      return set(given, 'format', formatOf(wordOrText(reader)));
    case 'DELIMITER':
      return set(given, 'delimiter', textOf(reader));
    case 'NULL':
      return set(given, 'null', textOf(reader));
    case 'HEADER':
      return set(given, 'header', headerOf(reader));
    case 'QUOTE':
      return set(given, 'quote', textOf(reader));
    case 'ESCAPE':
      return set(given, 'escape', textOf(reader));
    case 'FORCE_QUOTE':
      return set(given, 'forceQuote', columnsOf(reader));
    case 'FORCE_NOT_NULL':
      return set(given, 'forceNotNull', columnsOf(reader));
    case 'FORCE_NULL':
      return set(given, 'forceNull', columnsOf(reader));
    case 'ENCODING':
      return set(given, 'encoding', wordOrText(reader));
    case 'FREEZE':
      return set(given, 'freeze', flagOf(reader, 'freeze'));
    case 'ON_ERROR':
      if (foldKeyword(wordOrText(reader)) !== 'STOP') throw notSupported('COPY ON_ERROR takes stop alone');
      return;
    case 'LOG_VERBOSITY':
      wordOrText(reader);
      return;
    default:
      throw notSupported(`the option ${name} of COPY is not supported`);
  }
}

/** `BINARY DELIMITER AS ',' NULL AS '' CSV HEADER QUOTE AS '"' ESCAPE AS '"' FORCE QUOTE a, b FORCE NOT NULL a ENCODING 'UTF8'` */
function takeWords(reader: StatementReader, given: Given): void {
  while (!reader.atEnd()) {
    if (reader.takeWord('BINARY')) set(given, 'format', 'binary');
    else if (reader.takeWord('CSV')) set(given, 'format', 'csv');
    else if (reader.takeWord('HEADER')) set(given, 'header', true);
    else if (reader.takeWord('FREEZE')) set(given, 'freeze', true);
    else if (reader.takeWords('FORCE', 'QUOTE')) set(given, 'forceQuote', namesOf(reader));
    else if (reader.takeWords('FORCE', 'NOT', 'NULL')) set(given, 'forceNotNull', namesOf(reader));
    else if (reader.takeWords('FORCE', 'NULL')) set(given, 'forceNull', namesOf(reader));
    else if (reader.takeWord('ENCODING')) set(given, 'encoding', textOf(reader));
    else if (reader.takeWord('WHERE')) throw notSupported('WHERE of COPY FROM is not supported');
    else {
      const word = (['DELIMITER', 'NULL', 'QUOTE', 'ESCAPE'] as const).find((one) => reader.takeWord(one));
      if (word === undefined) throw reader.expected('an option of COPY');
      reader.takeWord('AS');
      takeOption(reader, word, given);
    }
  }
}

function set<K extends keyof Given>(given: Given, name: K, value: Given[K]): void {
  if (given[name] !== undefined) throw new WireError('42601', 'conflicting or redundant options');
  given[name] = value;
}

function textOf(reader: StatementReader): string {
  const text = reader.takeString();
  if (text === null) throw reader.expected('a text');
  return text;
}

function wordOrText(reader: StatementReader): string {
  const text = reader.takeString() ?? reader.takeName() ?? reader.takeNumber();
  if (text === null) throw reader.expected('a value');
  return text;
}

const FORMATS = ['text', 'csv', 'binary'] as const;

function formatOf(text: string): CopyForm['format'] {
  const format = FORMATS.find((one) => foldKeyword(one) === foldKeyword(text));
  if (format !== undefined) return format;
  throw invalid(`COPY format "${text}" not recognized`);
}

function truthOf(text: string): boolean | undefined {
  const word = foldKeyword(text);
  if (['TRUE', 'ON', '1'].includes(word)) return true;
  return ['FALSE', 'OFF', '0'].includes(word) ? false : undefined;
}

function headerOf(reader: StatementReader): boolean | 'match' {
  if (reader.peekSymbol(',') || reader.peekSymbol(')') || reader.atEnd()) return true;
  const text = wordOrText(reader);
  if (foldKeyword(text) === 'MATCH') return 'match';
  const truth = truthOf(text);
  if (truth === undefined) throw new WireError('42601', 'header requires a Boolean value or "match"');
  return truth;
}

function flagOf(reader: StatementReader, name: string): boolean {
  if (reader.peekSymbol(',') || reader.peekSymbol(')')) return true;
  const truth = truthOf(wordOrText(reader));
  if (truth === undefined) throw new WireError('42601', `${name} requires a Boolean value`);
  return truth;
}

/** `(a, b)`, or `*` for all. */
function columnsOf(reader: StatementReader): CopyColumns {
  if (reader.takeSymbol('*')) return '*';
  if (!reader.takeSymbol('(')) throw reader.expected("'('");
  const names = namesOf(reader);
  if (!reader.takeSymbol(')')) throw reader.expected("')'");
  return names;
}

function namesOf(reader: StatementReader): CopyColumns {
  if (reader.takeSymbol('*')) return '*';
  const names: string[] = [];
  do {
    const name = reader.takeName();
    if (name === null) throw reader.expected('the name of a column');
    names.push(name);
  } while (reader.takeSymbol(','));
  return names;
}

/** As `ProcessCopyOptions` of Postgres has it. @throws WireError */
function checked(given: Given, direction: 'in' | 'out'): CopyForm {
  const { format = 'text', header = false, encoding } = given;
  const isCsv = format === 'csv';
  if (encoding !== undefined && !/^utf-?8$/i.test(encoding))
    throw notSupported('texts are UTF8 here: ENCODING takes nothing else');
  if (format === 'binary' && (given.delimiter ?? given.null) !== undefined) {
    throw new WireError('42601', 'cannot specify DELIMITER or NULL in BINARY mode');
  }
  if (format === 'binary' && header !== false) throw notSupported('cannot specify HEADER in BINARY mode');
  requireCsv(given, isCsv);
  const options: CopyForm = {
    format,
    header,
    delimiter: given.delimiter ?? (isCsv ? ',' : '\t'),
    null: given.null ?? (isCsv ? '' : '\\N'),
    quote: given.quote ?? '"',
    escape: given.escape ?? given.quote ?? '"',
    forceQuote: given.forceQuote ?? [],
    forceNotNull: given.forceNotNull ?? [],
    forceNull: given.forceNull ?? [],
  };
  if (direction === 'out' && header === 'match') throw notSupported('cannot use "match" with HEADER in COPY TO');
  // Rows are as visible as all others are: there is nothing to freeze.
  if (direction === 'out' && given.freeze === true) throw invalid('COPY FREEZE cannot be used with COPY TO');
  if (direction === 'in' && given.forceQuote !== undefined)
    throw notSupported('COPY FORCE_QUOTE cannot be used with COPY FROM');
  if (direction === 'out' && (given.forceNotNull ?? given.forceNull) !== undefined) {
    throw notSupported('COPY FORCE_NOT_NULL and FORCE_NULL cannot be used with COPY TO');
  }
  requireBytes(options, isCsv);
  return options;
}

function requireCsv(given: Given, isCsv: boolean): void {
  const names = {
    quote: 'QUOTE',
    escape: 'ESCAPE',
    forceQuote: 'FORCE_QUOTE',
    forceNotNull: 'FORCE_NOT_NULL',
    forceNull: 'FORCE_NULL',
  } as const;
  for (const [key, name] of Object.entries(names)) {
    if (!isCsv && given[key as keyof typeof names] !== undefined) throw notSupported(`COPY ${name} requires CSV mode`);
  }
}

function requireBytes({ delimiter, null: nothing, quote, escape }: CopyForm, isCsv: boolean): void {
  const isByte = (text: string): boolean => text.length === 1 && text.charCodeAt(0) < 0x80;
  if (!isByte(delimiter)) throw notSupported('COPY delimiter must be a single one-byte character');
  if (/[\r\n]/.test(delimiter)) throw invalid('COPY delimiter cannot be newline or carriage return');
  if (/[\r\n]/.test(nothing)) throw invalid('COPY null representation cannot use newline or carriage return');
  if (!isCsv && /[\\.a-z0-9]/.test(delimiter)) throw invalid(`COPY delimiter cannot be "${delimiter}"`);
  if (isCsv && !isByte(quote)) throw notSupported('COPY quote must be a single one-byte character');
  if (isCsv && !isByte(escape)) throw notSupported('COPY escape must be a single one-byte character');
  if (isCsv && delimiter === quote) throw invalid('COPY delimiter and quote must be different');
  if (nothing.includes(delimiter)) throw invalid('COPY delimiter character must not appear in the NULL specification');
  if (isCsv && nothing.includes(quote)) throw invalid('CSV quote character must not appear in the NULL specification');
}
