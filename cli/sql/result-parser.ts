/**
 * Parses a result object (`{columns, types, rows, row_count, elapsed_ms}`) incrementally. Each row is kept as its JSON text, so no number
 * loses digits by parsing, and only a row that is cut off at the end of a piece is buffered.
 */
export type ResultHead = { readonly columns: readonly string[]; readonly types: readonly string[] };
export type ResultTail = { readonly rowCount: number; readonly elapsedMs: number };

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN = [91, 123];
const CLOSE = [93, 125];

export class ResultParser {
  #part: 'head' | 'rows' | 'tail' = 'head';
  /** Text that is not consumed yet; in the tail, the whole tail. */
  #text = '';
  #at = 0;
  #depth = 0;
  #inString = false;
  /** Start of the last string in the head, which is the key when a bracket follows. */
  #stringStart = 0;
  #rowStart = 0;
  #head: ResultHead | undefined;
  #envelope = '';

  /** Columns and types; known by the time of the first row. */
  get head(): ResultHead | undefined {
    return this.#head;
  }

  /** Parses the next piece and returns the rows that it completes. @throws SyntaxError when the head is not that of a result */
  push(piece: string): readonly string[] {
    this.#text += piece;
    const rows: string[] = [];
    while (this.#at < this.#text.length && this.#part !== 'tail') this.#step(rows);
    if (this.#part === 'rows') this.#drop(this.#depth === 0 ? this.#at : this.#rowStart);
    return rows;
  }

  /** Parses the tail after the last piece. @throws SyntaxError when the result was cut off */
  end(): ResultTail {
    const whole = JSON.parse(this.#envelope + this.#text) as { row_count?: number; elapsed_ms?: number };
    return { rowCount: whole.row_count ?? 0, elapsedMs: whole.elapsed_ms ?? 0 };
  }

  #step(rows: string[]): void {
    const code = this.#text.charCodeAt(this.#at);
    if (this.#inString) {
      // The character after a backslash may come with the next piece: then `#at` points behind the text until it is there.
      if (code === BACKSLASH) this.#at += 1;
      else if (code === QUOTE) this.#inString = false;
    } else if (code === QUOTE) {
      this.#inString = true;
      this.#stringStart = this.#at;
    } else if (OPEN.includes(code)) {
      this.#open();
    } else if (CLOSE.includes(code)) {
      this.#close(rows);
      return;
    }
    this.#at += 1;
  }

  #open(): void {
    if (this.#part === 'head') {
      if (this.#depth === 1 && /^"rows"\s*:\s*$/.test(this.#text.slice(this.#stringStart, this.#at))) {
        this.#envelope = this.#text.slice(0, this.#at + 1);
        this.#head = JSON.parse(`${this.#envelope}]}`) as ResultHead;
        this.#part = 'rows';
        this.#depth = 0;
        return;
      }
    } else if (this.#depth === 0) {
      this.#rowStart = this.#at;
    }
    this.#depth += 1;
  }

  #close(rows: string[]): void {
    if (this.#part === 'rows' && this.#depth === 0) {
      this.#part = 'tail';
      this.#drop(this.#at);
      return;
    }
    this.#depth -= 1;
    this.#at += 1;
    if (this.#part === 'rows' && this.#depth === 0) rows.push(this.#text.slice(this.#rowStart, this.#at));
  }

  #drop(before: number): void {
    this.#text = this.#text.slice(before);
    this.#at -= before;
    this.#rowStart -= before;
  }
}

/** The values of a row, each as its JSON text. */
export function rowValues(row: string): readonly string[] {
  const values: string[] = [];
  let depth = 0;
  let start = 1;
  for (let i = 1; i < row.length - 1; i++) {
    const code = row.charCodeAt(i);
    if (code === QUOTE) {
      for (i += 1; row.charCodeAt(i) !== QUOTE; i++) if (row.charCodeAt(i) === BACKSLASH) i += 1;
    } else if (OPEN.includes(code)) depth += 1;
    else if (CLOSE.includes(code)) depth -= 1;
    else if (code === 44 && depth === 0) {
      values.push(row.slice(start, i).trim());
      start = i + 1;
    }
  }
  const last = row.slice(start, -1).trim();
  return last === '' && values.length === 0 ? [] : [...values, last];
}
