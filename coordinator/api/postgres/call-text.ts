import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { identifierText, type Token } from '#shared/sql/tokenizer.ts';
import type { ParameterEdit } from '../../statement/bind-parameters.ts';

/** Tokens of a SELECT: the first one, and that behind the last one. */
export type Span = { readonly from: number; readonly to: number };

/** Words before a column of a SELECT, beside a comma, and words that end its columns. */
const SELECTS: ReadonlySet<string> = new Set(['SELECT', 'DISTINCT', 'ALL']);
const ENDS_COLUMNS: ReadonlySet<string> = new Set(
  'FROM WHERE GROUP HAVING WINDOW ORDER LIMIT OFFSET FETCH FOR UNION INTERSECT EXCEPT INTO'.split(' '),
);

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
  readonly #changed = new Map<number, { replaced: string | null; appended: string }>();

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

  replace(at: number, text: string): void {
    this.#change(at).replaced = text;
  }

  append(at: number, text: string): void {
    this.#change(at).appended += text;
  }

  #change(at: number): { replaced: string | null; appended: string } {
    const known = this.#changed.get(at) ?? { replaced: null, appended: '' };
    this.#changed.set(at, known);
    return known;
  }

  /** The text from one token to another, which is left out. */
  textBetween = (from: number, to: number): string =>
    this.#sql.slice(this.#tokens[from]?.start ?? 0, this.#tokens[to - 1]?.end ?? 0);

  /** Whether what stands there can be written a second time: it is no parameter, and stays as it is. */
  isUnchanged(from: number, to: number): boolean {
    for (let at = from; at < to; at += 1) {
      const isParameter = this.#tokens[at]?.kind === 'parameter' || this.symbol(at) === '?' || this.symbol(at) === '$';
      if (isParameter || this.#changed.has(at)) return false;
    }
    return true;
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
      .flatMap(([at, { replaced, appended }]) => {
        const token = this.#tokens[at];
        if (token === undefined) return [];
        const { start, end } = token;
        // A token that stays keeps its place in errors.
        const range = replaced === null ? { start: end, end } : { start, end };
        return [{ ...range, text: (replaced ?? '') + appended, name: '', spelled: '' }];
      });
  }
}
