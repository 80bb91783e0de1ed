// long file: one class, the changes of one text on one walk over its tokens
import { foldIdentifier, foldKeyword } from '#shared/sql/fold-identifier.ts';
import { identifierText, stringText, Tokenizer, type Token } from '#shared/sql/tokenizer.ts';
import type { ParameterEdit } from '../../../statement/bind-parameters.ts';

/** Tokens of a SELECT: the first one, and that behind the last one. */
export type Span = { readonly from: number; readonly to: number };

/** Words before a column of a SELECT, beside a comma, and words that end its columns. */
const SELECTS: ReadonlySet<string> = new Set(['SELECT', 'DISTINCT', 'ALL']);
const ENDS_COLUMNS: ReadonlySet<string> = new Set(
  'FROM WHERE GROUP HAVING WINDOW ORDER LIMIT OFFSET FETCH FOR UNION INTERSECT EXCEPT INTO'.split(' '),
);

type Change = { prepended: string; replaced: string | null; appended: string };
const UNCHANGED: Readonly<Change> = { prepended: '', replaced: null, appended: '' };

/** Characters of operators that take a part of JSON, and the longest of these. */
const OPERATOR = /[-#>@<]/;
const OPERATOR_MAX = 3;

/** Words before a bracket that call no function, and those whose bracket belongs to what stands before them. */
export const NO_CALLS: ReadonlySet<string> = new Set(
  `AND OR NOT IN WHERE ON HAVING WHEN THEN ELSE CASE SELECT DISTINCT FROM BY AS VALUES UNION ALL EXCEPT INTERSECT LIKE ILIKE BETWEEN IS RETURNING
  USING LATERAL JOIN SET LIMIT OFFSET`.split(/\s+/),
);
export const BEHIND_CALLS: ReadonlySet<string> = new Set(['FILTER', 'OVER', 'GROUP', 'ANY', 'SOME', 'EXISTS', 'END']);

/** Words that may follow a source of FROM, and are no alias of it. */
const BEHIND_SOURCE: ReadonlySet<string> = new Set(
  `${[...ENDS_COLUMNS].join(' ')} ON USING JOIN INNER LEFT RIGHT FULL CROSS NATURAL LATERAL WITH TABLESAMPLE RETURNING SET WHEN`.split(
    ' ',
  ),
);

/** Tokens that are looked at for the clause of a name, in all of a statement. */
const LOOKED_MAX = 2_000_000;

/** Undefined for a text that cannot be divided into tokens, which is refused elsewhere. */
export function tokensOf(sql: string): readonly Token[] | undefined {
  const reader = new Tokenizer(sql);
  const tokens: Token[] = [];
  try {
    for (let token = reader.next(); token.kind !== 'end'; token = reader.next()) tokens.push(token);
  } catch {
    return undefined;
  }
  return tokens;
}

/** The tokens of a statement with their brackets, and what is written in their place or behind them. */
export class CallText {
  readonly #sql: string;
  readonly #tokens: readonly Token[];
  /** The closing bracket of each opening one, and the other way round. */
  readonly #closing = new Map<number, number>();
  readonly #opening = new Map<number, number>();
  /** The bracket around each token; -1 = none. */
  readonly #around: number[] = [];
  readonly #columnEnds = new Map<number, number>();
  #selects: readonly (Span | undefined)[] | undefined;
  readonly #changed = new Map<number, Change>();

  constructor(sql: string, tokens: readonly Token[]) {
    this.#sql = sql;
    this.#tokens = tokens;
    const open: number[] = [];
    for (let at = 0; at < tokens.length; at += 1) {
      const symbol = this.symbol(at);
      this.#around.push(open.at(-1) ?? -1);
      if (symbol === '(' || symbol === '[' || symbol === '{') open.push(at);
      else if (symbol === ')' || symbol === ']' || symbol === '}') {
        const opened = open.pop() ?? -1;
        this.#closing.set(opened, at);
        this.#opening.set(at, opened);
      }
    }
  }

  closing = (at: number): number | undefined => this.#closing.get(at);

  symbol = (at: number): string => this.#textOf(at, 'symbol');

  /** In capitals; empty for what is no word. */
  word = (at: number): string => foldKeyword(this.#textOf(at, 'word'));

  #textOf(at: number, kind: Token['kind']): string {
    const token = this.#tokens[at];
    return token?.kind === kind ? this.#sql.slice(token.start, token.end) : '';
  }

  /** Whether a type stands in `value::type` or `CAST(value AS type)`. */
  isCastTo(at: number): boolean {
    if (this.symbol(at - 1) === ':' && this.symbol(at - 2) === ':') return true;
    const end = this.symbol(at + 1) === '[' ? at + 3 : at + 1;
    const open = this.word(at - 1) === 'AS' ? this.#opening.get(end) : undefined;
    return open !== undefined && ['CAST', 'TRY_CAST'].includes(this.word(open - 1));
  }

  /** Whether a name has no schema, or that of the catalog. */
  isPlainName = (at: number): boolean =>
    this.symbol(at - 1) !== '.' || (this.word(at - 2) === 'PG_CATALOG' && this.symbol(at - 3) !== '.');

  /** The last token of a call, with its FILTER and OVER. */
  endOfCall(close: number): number {
    const end = this.#endOfFilter(close);
    return this.isWindow(close) ? (this.#closing.get(end + 2) ?? end + 2) : end;
  }

  /** Whether OVER follows a call. */
  isWindow = (close: number): boolean => this.word(this.#endOfFilter(close) + 1) === 'OVER';

  #endOfFilter(close: number): number {
    const filtered = this.word(close + 1) === 'FILTER' ? this.#closing.get(close + 2) : undefined;
    return filtered ?? close;
  }

  /** The commas between the arguments of a call, and the ORDER behind them. */
  divided(open: number, close: number): { readonly commas: readonly number[]; readonly order: number | undefined } {
    const commas: number[] = [];
    for (let at = open + 1; at < close; at += 1) {
      const inner = this.#closing.get(at);
      if (inner !== undefined) at = inner;
      else if (this.symbol(at) === ',') commas.push(at);
      else if (this.word(at) === 'ORDER') return { commas, order: at };
    }
    return { commas, order: undefined };
  }

  startOf = (at: number): number => this.#tokens[at]?.start ?? 0;

  endOf = (at: number): number => this.#tokens[at]?.end ?? 0;

  get length(): number {
    return this.#tokens.length;
  }

  /** The operator of Postgres that begins at a token: symbols side by side; empty = none of its characters stands there. */
  operator(at: number): string {
    let operator = '';
    for (let i = at; operator.length < OPERATOR_MAX && OPERATOR.test(this.symbol(i)); i += 1) {
      if (i > at && this.#tokens[i - 1]?.end !== this.#tokens[i]?.start) break;
      operator += this.symbol(i);
    }
    // As in Postgres: a minus at the end is that of a number, unless a sign makes another operator of it.
    while (operator.length > 1 && operator.endsWith('-') && !/[#@]/.test(operator)) operator = operator.slice(0, -1);
    return operator;
  }

  /** The value of a string. */
  string = (at: number): string => {
    const token = this.#tokens[at];
    return token?.kind === 'string' ? stringText(this.#sql, token) : '';
  };

  isParameter = (at: number): boolean => this.#tokens[at]?.kind === 'parameter';

  bracketAround = (at: number): number => this.#around[at] ?? -1;

  /** The strings of `ARRAY['a', 'b']`; null for anything else. */
  stringsOfArray(at: number): readonly number[] | null {
    const close = this.word(at) === 'ARRAY' && this.symbol(at + 1) === '[' ? this.closing(at + 1) : undefined;
    if (close === undefined) return null;
    const strings: number[] = [];
    for (let i = at + 2; i < close; i += 2) {
      if (!this.isString(i) || !(i + 1 === close || this.symbol(i + 1) === ',')) return null;
      strings.push(i);
    }
    return strings;
  }

  /** The last token of a value with the casts behind it: `x::text[]`. */
  endOfCasts(end: number): number {
    let last = end;
    while (this.symbol(last + 1) === ':' && this.symbol(last + 2) === ':' && this.word(last + 3) !== '') {
      last += 3;
      for (let open = last + 1; ['(', '['].includes(this.symbol(open)); open = last + 1) {
        last = this.closing(open) ?? last;
        if (last < open) return last;
      }
    }
    return last;
  }

  /** The first token of the value that ends at one, with its casts, its indexes and its brackets; undefined for what is none, as `CASE ... END`. */
  beginOfValue(end: number): number | undefined {
    let at = end;
    for (;;) {
      const type = this.#castBefore(at);
      if (type !== undefined) {
        at = type;
        continue;
      }
      const open = this.#opening.get(at);
      if (this.symbol(at) === ']' && open !== undefined && open > 0) {
        if (this.word(open - 1) === 'ARRAY') return open - 1;
        at = open - 1;
        continue;
      }
      if (this.symbol(at) === ')' && open !== undefined && open >= 0) {
        const word = this.word(open - 1);
        if (BEHIND_CALLS.has(word)) return undefined;
        if (this.name(open - 1) === '' || NO_CALLS.has(word)) return open;
        at = open - 1;
      } else {
        const kind = this.#tokens[at]?.kind;
        if (kind === 'string')
          return ['JSON', 'JSONB'].includes(this.word(at - 1)) && !this.isCastTo(at - 1) ? at - 1 : at;
        if (kind === 'parameter') return at;
        if (this.name(at) === '' || BEHIND_CALLS.has(this.word(at)) || NO_CALLS.has(this.word(at))) return undefined;
      }
      while (this.symbol(at - 1) === '.' && this.name(at - 2) !== '') at -= 2;
      if (this.symbol(at - 1) !== '.') return at;
      // The name is a member of another value: `f(x).a`.
      at -= 2;
    }
  }

  /** The token before `::`, when a type that is cast to ends at a token. */
  #castBefore(at: number): number | undefined {
    let type = at;
    if (this.symbol(type) === ']') type = (this.#opening.get(type) ?? 0) - 1;
    if (this.symbol(type) === ')') type = (this.#opening.get(type) ?? 0) - 1;
    if (this.word(type) === '') return undefined;
    if (this.symbol(type - 1) === '.') type -= 2;
    return this.symbol(type - 1) === ':' && this.symbol(type - 2) === ':' ? type - 3 : undefined;
  }

  #looked = 0;

  /** Whether a name is a source of FROM. */
  isSource(at: number): boolean {
    for (let i = at - 1; i >= 0 && this.#looked < LOOKED_MAX; i -= 1) {
      this.#looked += 1;
      const word = this.word(i);
      if (i === at - 1 && this.symbol(i) !== ',') return ['FROM', 'JOIN', 'LATERAL'].includes(word);
      if (word === 'FROM') return true;
      if (ENDS_COLUMNS.has(word) || word === 'SELECT' || word === 'BY' || '([{'.includes(this.symbol(i) || ' '))
        return false;
      i = this.#opening.get(i) ?? i;
    }
    return false;
  }

  /** The alias behind a source of FROM. */
  aliasBehind(end: number): number | undefined {
    const at = this.word(end + 1) === 'AS' ? end + 2 : end + 1;
    return this.name(at) === '' || BEHIND_SOURCE.has(this.word(at)) ? undefined : at;
  }

  /** Whether a statement reads an alias that names no columns as a value, and no column of it by its name. */
  isReadAlone(alias: number): boolean {
    if (this.symbol(alias + 1) === '(') return false;
    const name = foldIdentifier(this.name(alias));
    let isRead = false;
    for (let at = 0; at < this.#tokens.length; at += 1) {
      this.#looked += 1;
      if (this.#looked > LOOKED_MAX) return false;
      if (at === alias || foldIdentifier(this.name(at)) !== name || this.symbol(at - 1) === '.') continue;
      if (this.symbol(at + 1) === '.') return false;
      isRead = true;
    }
    return isRead;
  }

  /** Puts a text before a token, and before what was put there earlier. */
  prepend(at: number, text: string): void {
    const change = this.#change(at);
    change.prepended = text + change.prepended;
  }

  replace(at: number, text: string): void {
    this.#change(at).replaced = text;
  }

  append(at: number, text: string): void {
    this.#change(at).appended += text;
  }

  #change(at: number): Change {
    const known = this.#changed.get(at) ?? { prepended: '', replaced: null, appended: '' };
    this.#changed.set(at, known);
    return known;
  }

  /** The text from one token to another, which is left out, with what was written there so far. */
  textBetween(from: number, to: number): string {
    let written = '';
    for (let at = from; at < to; at += 1) {
      const { prepended, replaced, appended } = this.#changed.get(at) ?? UNCHANGED;
      const { start = 0, end = 0 } = this.#tokens[at] ?? {};
      const space = at === from ? '' : this.#sql.slice(this.#tokens[at - 1]?.end ?? start, start);
      written += `${space}${prepended}${replaced ?? this.#sql.slice(start, end)}${appended}`;
    }
    return written;
  }

  /**
   * Whether what stands there can be written a second time: it has no parameter, and no subquery that is written anew, of which each level would
   * double the text.
   */
  canRepeat(from: number, to: number): boolean {
    let [isChanged, hasQuery] = [false, false];
    for (let at = from; at < to; at += 1) {
      if (this.isParameter(at) || this.symbol(at) === '?' || this.symbol(at) === '$') return false;
      isChanged ||= this.#changed.has(at);
      hasQuery ||= this.word(at) === 'SELECT';
    }
    return !isChanged || !hasQuery;
  }

  isString = (at: number): boolean => this.#tokens[at]?.kind === 'string';

  isNumber = (at: number): boolean => this.#tokens[at]?.kind === 'number';

  /** A name with or without quotes; empty for what is none. */
  name(at: number): string {
    const token = this.#tokens[at];
    return token?.kind === 'word' || token?.kind === 'quoted' ? identifierText(this.#sql, token) : '';
  }

  /** Whether a call, from its name to its last token, is by itself a column of a SELECT, without a name. */
  isColumn(at: number, end: number): boolean {
    const select = this.selectAround(at);
    const first = this.word(at - 2) === 'PG_CATALOG' ? at - 2 : at;
    if (select === undefined || !(this.symbol(first - 1) === ',' || SELECTS.has(this.word(first - 1)))) return false;
    const isLast =
      end + 1 >= select.to ||
      this.symbol(end + 1) === ',' ||
      ENDS_COLUMNS.has(this.word(end + 1)) ||
      this.symbol(end + 1) === ';';
    return isLast && this.#isIn(select, first) && first < this.endOfColumns(select.from);
  }

  /** Whether no bracket within a SELECT is around a token. */
  #isIn(select: Span, at: number): boolean {
    return this.#around[at] === this.#around[select.from];
  }

  /** The first token behind the columns of the SELECT at a token. */
  endOfColumns(select: number): number {
    const known = this.#columnEnds.get(select);
    if (known !== undefined) return known;
    let at = select;
    while (at < this.#tokens.length && !ENDS_COLUMNS.has(this.word(at)) && this.symbol(at) !== ')') {
      at = (this.#closing.get(at) ?? at) + 1;
    }
    this.#columnEnds.set(select, at);
    return at;
  }

  /** All SELECTs, of set operations the first one. */
  selects(): ReadonlySet<Span> {
    return new Set((this.#selects ??= this.#readSelects()).filter((span) => span !== undefined));
  }

  /** The columns of a SELECT, with their names. */
  columnsOf({ from, to }: Span): readonly Span[] {
    const end = Math.min(to, this.endOfColumns(from));
    const isDistinctOn = this.word(from + 1) === 'DISTINCT' && this.word(from + 2) === 'ON';
    let begin = isDistinctOn
      ? (this.#closing.get(from + 3) ?? from) + 1
      : from + (SELECTS.has(this.word(from + 1)) ? 2 : 1);
    const columns: Span[] = [];
    for (let at = begin; at < end; at += 1) {
      at = this.#closing.get(at) ?? at;
      if (at + 1 < end && this.symbol(at + 1) !== ',' && this.symbol(at + 1) !== ';') continue;
      columns.push({ from: begin, to: at + 1 });
      begin = at + 2;
      at += 1;
    }
    return columns;
  }

  /** Whether anything but brackets was written between two tokens. */
  isChanged({ from, to }: Span): boolean {
    for (let at = from; at < to; at += 1) {
      const { prepended, replaced, appended } = this.#changed.get(at) ?? UNCHANGED;
      if (replaced !== null || /\w/.test(prepended + appended)) return true;
    }
    return false;
  }

  /** The text as it was written. */
  written = ({ from, to }: Span): string => this.#sql.slice(this.startOf(from), this.endOf(to - 1));

  /** The first token of the SELECT that each token is of, and the end of that. */
  selectAround = (at: number): Span | undefined => (this.#selects ??= this.#readSelects())[at];

  #readSelects(): readonly (Span | undefined)[] {
    const found: (Span | undefined)[] = [];
    const around = [{ span: this.#selectIn(0, this.#tokens.length), end: this.#tokens.length }];
    for (let at = 0; at < this.#tokens.length; at += 1) {
      while (around.length > 1 && (around.at(-1)?.end ?? 0) <= at) around.pop();
      const span = around.at(-1)?.span;
      found.push(span);
      const end = this.#closing.get(at);
      if (end === undefined) continue;
      const isQuery = this.word(at + 1) === 'SELECT' || this.word(at + 1) === 'WITH';
      around.push({ span: isQuery ? this.#selectIn(at + 1, end) : span, end });
    }
    return found;
  }

  /** From the first SELECT in no brackets on. */
  #selectIn(from: number, to: number): Span | undefined {
    for (let at = from; at < to; at += 1) {
      if (this.word(at) === 'SELECT') return { from: at, to };
      at = this.#closing.get(at) ?? at;
    }
    return undefined;
  }

  edits(): readonly ParameterEdit[] {
    return [...this.#changed]
      .toSorted(([a], [b]) => a - b)
      .flatMap(([at, { prepended, replaced, appended }]) => {
        const token = this.#tokens[at];
        if (token === undefined) return [];
        const { start, end } = token;
        if (replaced !== null) return [edit(start, end, prepended + replaced + appended)];
        // A token that stays keeps its place in errors.
        return [
          ...(prepended === '' ? [] : [edit(start, start, prepended)]),
          ...(appended === '' ? [] : [edit(end, end, appended)]),
        ];
      });
  }
}

const edit = (start: number, end: number, text: string): ParameterEdit => ({ start, end, text, name: '', spelled: '' });
