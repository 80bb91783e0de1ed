import { rowValues, type ResultHead, type ResultTail } from './result-parser.ts';

/** Formats one result as text. A writer is created per result, and buffers at most `WIDTH_ROWS` rows. */
export interface ResultWriter {
  rows(rows: readonly string[]): string;
  end(tail: ResultTail): string;
}

export const FORMATS = ['table', 'csv', 'json', 'ndjson'] as const;
export type Format = (typeof FORMATS)[number];

/** Number of first rows that determine the column widths of a table; wider later rows overflow. */
const WIDTH_ROWS = 1_000;
/** Most characters of a cell that a table shows. */
const CELL_CHARS_MAX = 200;

const WRITERS = {
  table: (head) => new TableWriter(head),
  csv: (head) => new CsvWriter(head),
  json: (head) => new JsonWriter(head),
  ndjson: (head) => new NdjsonWriter(head),
} as const satisfies Record<Format, (head: ResultHead) => ResultWriter>;

export const resultWriter = (format: Format, head: ResultHead): ResultWriter => WRITERS[format](head);

/** Prints a JSON value as the text of a cell: strings without quotes, anything else unchanged (no number is parsed). */
const cellText = (value: string): string => (value.startsWith('"') ? (JSON.parse(value) as string) : value);

/** Writes CSV (RFC 4180). NULL is an empty field, the empty string is `""`. */
class CsvWriter implements ResultWriter {
  #pending: string;

  constructor({ columns }: ResultHead) {
    this.#pending = `${columns.map(csvText).join(',')}\n`;
  }

  rows(rows: readonly string[]): string {
    const lines = rows.map((row) => rowValues(row).map(csvCell).join(','));
    return this.#take() + lines.map((line) => `${line}\n`).join('');
  }

  end(): string {
    return this.#take();
  }

  #take(): string {
    const pending = this.#pending;
    this.#pending = '';
    return pending;
  }
}

const csvCell = (value: string): string => {
  if (value === 'null') return '';
  return value === '""' ? '""' : csvText(cellText(value));
};
const csvText = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Prints a row as `{"column": value, ...}`, with the values' JSON text unchanged. */
const objectPrinter = ({ columns }: ResultHead): ((row: string) => string) => {
  const keys = columns.map((column) => `${JSON.stringify(column)}:`);
  return (row) =>
    `{${rowValues(row)
      .map((value, i) => (keys[i] ?? '') + value)
      .join(',')}}`;
};

class NdjsonWriter implements ResultWriter {
  readonly #print: (row: string) => string;

  constructor(head: ResultHead) {
    this.#print = objectPrinter(head);
  }

  rows(rows: readonly string[]): string {
    return rows.map((row) => `${this.#print(row)}\n`).join('');
  }

  end(): string {
    return '';
  }
}

/** Writes one array of objects per result. */
class JsonWriter implements ResultWriter {
  readonly #print: (row: string) => string;
  #before = '[';

  constructor(head: ResultHead) {
    this.#print = objectPrinter(head);
  }

  rows(rows: readonly string[]): string {
    let text = '';
    for (const row of rows) {
      text += `${this.#before}${this.#print(row)}`;
      this.#before = ',\n';
    }
    return text;
  }

  end(): string {
    return this.#before === '[' ? '[]\n' : ']\n';
  }
}

const NUMBER_TYPE = /^(U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL.*|BIGNUM)$/;

class TableWriter implements ResultWriter {
  readonly #head: ResultHead;
  #waiting: (readonly string[])[] = [];
  #widths: readonly number[] | undefined;

  constructor(head: ResultHead) {
    this.#head = { ...head, columns: head.columns.map(tableText) };
  }

  rows(rows: readonly string[]): string {
    const cells = rows.map((row) => rowValues(row).map(tableCell));
    if (this.#widths !== undefined) return cells.map((line) => this.#line(line)).join('');
    this.#waiting.push(...cells);
    return this.#waiting.length < WIDTH_ROWS ? '' : this.#begin();
  }

  end({ rowCount, elapsedMs }: ResultTail): string {
    const start = this.#widths === undefined ? this.#begin() : '';
    return `${start}(${rowCount} ${rowCount === 1 ? 'row' : 'rows'}, ${elapsedMs} ms)\n`;
  }

  #begin(): string {
    const { columns } = this.#head;
    const widths = columns.map((name, i) =>
      this.#waiting.reduce((width, row) => Math.max(width, charsOf(row[i] ?? '')), charsOf(name)),
    );
    this.#widths = widths;
    const rule = widths.map((width) => '-'.repeat(width + 2)).join('+');
    const text = [this.#line(columns), `${rule}\n`, ...this.#waiting.map((row) => this.#line(row))].join('');
    this.#waiting = [];
    return text;
  }

  #line(cells: readonly string[]): string {
    const padded = cells.map((cell, i) => {
      const blanks = ' '.repeat(Math.max(0, (this.#widths?.[i] ?? 0) - charsOf(cell)));
      return NUMBER_TYPE.test(this.#head.types[i] ?? '') ? ` ${blanks}${cell} ` : ` ${cell}${blanks} `;
    });
    return `${padded.join('|').trimEnd()}\n`;
  }
}

/** Counts code points, which approximates the width on a terminal. */
const charsOf = (text: string): number => Array.from(text).length;
const tableCell = (value: string): string => (value === 'null' ? 'NULL' : tableText(cellText(value)));

/** Escapes control characters of a cell, because untrusted data could move the cursor or worse. */
function tableText(text: string): string {
  const short = text.length > CELL_CHARS_MAX ? `${text.slice(0, CELL_CHARS_MAX)}…` : text;
  return short.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (char) => ESCAPES[char] ?? codeOf(char));
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const codeOf = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
