import { unreachable } from '#shared/must.ts';
import { foldIdentifier, foldKeyword } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { dialectTokens, type DialectToken } from './dialect-tokens.ts';
import { untranslated, type Dialect, type Spelling } from './dialect.ts';

/** Brackets within brackets. */
const DEPTH_MAX = 100;

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Words that mean the same in the dialects and here; they are written as they are. */
const KEYWORDS = words(`
  SELECT DISTINCT ALL AS FROM WHERE GROUP BY HAVING ORDER ASC DESC NULLS FIRST LAST LIMIT WITH UNION INTERSECT EXCEPT
  JOIN INNER LEFT RIGHT FULL OUTER CROSS ON USING AND OR NOT IN IS NULL BETWEEN LIKE CASE WHEN THEN ELSE END EXISTS
  CAST TRUE FALSE OVER PARTITION FILTER`);
/** Keywords behind which no expression goes on: what stands before them binds with nothing behind. */
const BORDERS = words(`
  SELECT DISTINCT ALL AS FROM WHERE GROUP BY HAVING ORDER LIMIT WITH UNION INTERSECT EXCEPT JOIN INNER LEFT RIGHT FULL
  OUTER CROSS ON USING OR WHEN THEN ELSE OVER PARTITION FILTER ASC DESC NULLS`);
/** Keywords that end an operand, so that a word behind them is an alias. */
const OPERAND_ENDS = words('NULL TRUE FALSE END');
/** Keywords behind which a text may stand. */
const BEFORE_TEXT = words(`
  SELECT DISTINCT ALL WHERE BY HAVING ON AND OR NOT BETWEEN LIKE CASE WHEN THEN ELSE`);
/** Words that some engine reads as more than an alias when they stand behind an operand. */
const NO_ALIASES = words(`
  ANTI SEMI NATURAL LATERAL TABLESAMPLE PIVOT UNPIVOT CLUSTER DISTRIBUTE SORT WINDOW QUALIFY MINUS SETMINUS FETCH OFFSET
  FOR VERSION TIMESTAMP DATE TIME SYSTEM_VERSION SYSTEM_TIME MATCH_RECOGNIZE ESCAPE ROWS ROW RANGE GROUPS AT DIV RLIKE REGEXP
  ILIKE SIMILAR COLLATE IGNORE RESPECT WITHIN INTERVAL TABLE VALUES RECURSIVE INTO ASOF POSITIONAL SAMPLE EXCLUDE REPLACE
  APPLY GLOB NOTNULL ISNULL OVERLAPS STREAM WATERMARK IDENTIFIED EXTEND AGGREGATE BINARY OPERATOR XOR RENAME SUMMARIZE`);
/** Functions without brackets. */
const NILADIC = words(`
  CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURRENT_CATALOG CURRENT_SCHEMA CURRENT_PATH CURRENT_ROLE
  CURRENT_TIMEZONE LOCALTIME LOCALTIMESTAMP SESSION_USER USER NOW`);
const TYPES: ReadonlyMap<string, string> = new Map([
  ['INT', 'INTEGER'],
  ['INTEGER', 'INTEGER'],
  ['BIGINT', 'BIGINT'],
  ['DOUBLE', 'DOUBLE'],
  ['BOOLEAN', 'BOOLEAN'],
  ['DATE', 'DATE'],
  ['VARCHAR', 'VARCHAR'],
  ['STRING', 'VARCHAR'],
]);
/** Keywords behind which a bracket opens a part of the query, and calls no function. */
const BEFORE_BRACKET = words(`
  SELECT DISTINCT ALL AS FROM WHERE BY HAVING JOIN ON USING AND OR NOT IN BETWEEN LIKE CASE WHEN THEN ELSE EXISTS OVER FILTER
  UNION INTERSECT EXCEPT`);
const COMPARISONS: ReadonlySet<string> = new Set(['=', '<>', '!=', '<', '>', '<=', '>=']);
const SIGNS: ReadonlySet<string> = new Set([...COMPARISONS, '+', '-', '*', '%', '||']);

/** The kinds of the tokens of an item of an ORDER BY: a number or a name, and up to three words, as in `DESC NULLS LAST`. */
const ORDERED = /^(?:number|(?:word|quoted)(?: \. (?:word|quoted)){0,3})(?: word){0,3}$/;
/** Keywords that stand behind the HAVING of a query, or begin another one. */
const BEHIND_HAVING = words('SELECT ORDER LIMIT UNION INTERSECT EXCEPT');

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d{1,6})?$/;
const INTEGER = /^\d{1,18}$/;

/** The text between two brackets, or between CASE and END, or all of it. */
type Frame = {
  readonly opener: 'all' | '(' | 'CASE';
  readonly call: Spelling | 'cast' | null;
  /** Operators since the last border: comparisons do not chain everywhere, and `||` binds differently. */
  comparisons: number;
  hasSum: boolean;
  hasConcat: boolean;
  isBetween: boolean;
  /** The item of an ORDER BY that is being read, from the token at `start`. */
  order: { readonly start: number; isDescending: boolean; hasNulls: boolean } | null;
  /** It is that of OVER (...), where names are those of columns alone. */
  readonly isWindow: boolean;
  isHaving: boolean;
};

/**
 * Writes a query of another engine in our dialect, token by token: names in our quotes, functions by our names, texts with their type, the
 * place of NULLs spelled out. What could mean something else here, or is not known, is refused with its place, so whatever comes out has the
 * structure that it had: our parser reads the same operators over the same operands. Types are checked on the bound query
 * (`check-meaning.ts`).
 * @throws NOT_SUPPORTED
 */
export function translateQuery(sql: string, dialect: Dialect): string {
  return new Translation(sql, dialect).text();
}

class Translation {
  readonly #sql: string;
  readonly #dialect: Dialect;
  readonly #tokens: readonly DialectToken[];
  readonly #out: string[] = [];
  readonly #frames: Frame[] = [newFrame('all', null)];
  /** Names that the query gives, and names of its HAVING, folded. */
  readonly #aliases = new Set<string>();
  readonly #inHaving = new Set<string>();
  #hasStar = false;
  #hasUsing = false;
  #at = 0;

  constructor(sql: string, dialect: Dialect) {
    this.#sql = sql;
    this.#dialect = dialect;
    this.#tokens = dialectTokens(sql, dialect);
  }

  text(): string {
    for (let token = this.#token(0); token !== undefined; token = this.#token(0)) {
      this.#write(token);
      this.#at += 1;
    }
    const [frame, ...open] = this.#frames;
    if (frame === undefined || open.length > 0) throw this.#refusal('a bracket without its other half');
    this.#endOrder(frame);
    const both = [...this.#inHaving].find((name) => this.#aliases.has(name));
    // In Spark it is the alias.
    if (this.#dialect.isSpark && both !== undefined) throw this.#refusal(`${both} in HAVING, which is an alias, too`);
    if (this.#hasStar && this.#hasUsing)
      throw this.#refusal('* over a join with USING, which orders columns otherwise');
    return this.#out.join(' ');
  }

  #write(token: DialectToken): void {
    switch (token.kind) {
      case 'word':
        return this.#word(token);
      case 'quoted':
        return this.#name(token.text);
      case 'string':
        return this.#string(token);
      case 'number':
        return this.#number(token);
      case 'symbol':
        return this.#symbol(token.text);
      default:
        return unreachable(token.kind);
    }
  }

  #word({ text }: DialectToken): void {
    const word = foldKeyword(text);
    const [before, next] = [this.#token(-1), this.#token(1)];
    if (isSymbol(before, '.') || isSymbol(next, '.')) return this.#name(text);
    if (KEYWORDS.has(word)) return this.#keyword(word);
    if (next?.kind === 'string' && (word === 'DATE' || word === 'TIMESTAMP') && !this.#isBehindOperand()) {
      return this.#typed(word, next.text);
    }
    if (isSymbol(next, '(')) return this.#call(text);
    if (NILADIC.has(word) || (this.#isBehindOperand() && NO_ALIASES.has(word))) throw this.#refusal(text);
    this.#name(text);
  }

  #name(name: string): void {
    const isQualified = isSymbol(this.#token(-1), '.') || isSymbol(this.#token(1), '.');
    const isAlias = this.#wordAt(-1) === 'AS' || this.#isBehindOperand();
    if (!isQualified && isAlias) this.#aliases.add(foldIdentifier(name));
    else if (!isQualified && this.#frame().isHaving) this.#inHaving.add(foldIdentifier(name));
    this.#out.push(quoteIdentifier(name));
  }

  #keyword(word: string): void {
    const frame = this.#frame();
    if (this.#wordAt(-1) === 'AS' && word !== 'SELECT' && word !== 'WITH') throw this.#refusal(`${word} as a name`);
    if (word === 'USING') this.#hasUsing = true;
    if (word === 'LIMIT' && !INTEGER.test(this.#token(1)?.text ?? '') && this.#wordAt(1) !== 'ALL') {
      throw this.#refusal('LIMIT of no number');
    }
    if (word === 'CAST') return this.#cast();
    if (word === 'AS' && frame.call === 'cast') return this.#castType();
    if (word === 'NOT' && this.#token(-1)?.kind === 'symbol' && SIGNS.has(this.#token(-1)?.text ?? '')) {
      throw this.#refusal('NOT behind an operator');
    }
    if (word === 'LIMIT' || word === 'UNION' || word === 'INTERSECT' || word === 'EXCEPT') this.#endOrder(frame);
    if (BEHIND_HAVING.has(word)) frame.isHaving = false;
    if (word === 'HAVING') frame.isHaving = true;
    if (word === 'IN' || word === 'IS' || word === 'LIKE' || word === 'BETWEEN') this.#compare(frame);
    if (word === 'BETWEEN') frame.isBetween = true;
    if (word === 'AND') {
      if (frame.isBetween) frame.isBetween = false;
      else newPart(frame);
    }
    if (BORDERS.has(word) && !(word === 'DISTINCT' && frame.comparisons > 0)) newPart(frame);
    if (word === 'ORDER' && this.#wordAt(1) === 'BY') frame.order = this.#newOrder(2);
    if (word === 'DESC' && frame.order !== null) frame.order.isDescending = true;
    if (word === 'NULLS' && frame.order !== null) frame.order.hasNulls = true;
    this.#out.push(word);
    if (word === 'CASE') this.#push({ ...newFrame('CASE', null), isHaving: frame.isHaving });
    if (word === 'END') this.#pop('CASE');
  }

  /** `DATE '2024-01-01'`. Spark's TIMESTAMP depends on the session's time zone. */
  #typed(word: 'DATE' | 'TIMESTAMP', value: string): void {
    const isPlain = word === 'DATE' ? DATE.test(value) : !this.#dialect.isSpark && TIMESTAMP.test(value);
    if (!isPlain) throw this.#refusal(`${word} ${quoteLiteral(value)}`);
    this.#out.push(word, quoteLiteral(value));
    this.#at += 1;
  }

  #call(name: string): void {
    const spelling = this.#dialect.functions.get(name.toLowerCase());
    if (spelling === undefined) throw this.#refusal(`the function ${name}`);
    if (this.#isBehindOperand()) throw this.#refusal(`${name} (...) behind an operand`);
    if (spelling.kind === 'substring') this.#checkSubstring();
    // An operator may stand before it: both brackets keep it one operand.
    if (spelling.kind === 'concat') this.#out.push('(');
    else this.#out.push(spelling.kind === 'name' ? spelling.name : spelling.kind);
    this.#out.push('(');
    this.#at += 1;
    this.#push({ ...newFrame('(', spelling), isHaving: this.#frame().isHaving });
  }

  /** Places from 1 on, and lengths, as they are written: others count differently from engine to engine. */
  #checkSubstring(): void {
    let depth = 0;
    const numbers: string[] = [];
    for (let i = 1; ; i += 1) {
      const token = this.#token(i);
      if (token === undefined) return;
      if (isSymbol(token, '(')) depth += 1;
      if (isSymbol(token, ')')) depth -= 1;
      if (depth === 0) break;
      if (depth > 1 || !isSymbol(token, ',')) continue;
      const [number, end] = [this.#token(i + 1), this.#token(i + 2)];
      const isNumber = number?.kind === 'number' && INTEGER.test(number.text);
      if (!isNumber || !(isSymbol(end, ',') || isSymbol(end, ')')))
        throw this.#refusal('a substring of no fixed place');
      numbers.push(number.text);
    }
    if (numbers.length === 0 || Number(numbers[0]) === 0) throw this.#refusal('a substring of no fixed place');
  }

  #cast(): void {
    if (!isSymbol(this.#token(1), '(')) throw this.#refusal('CAST without a bracket');
    this.#out.push('CAST', '(');
    this.#at += 1;
    this.#push({ ...newFrame('(', 'cast'), isHaving: this.#frame().isHaving });
  }

  #castType(): void {
    const word = this.#wordAt(1);
    const scalar = TYPES.get(word);
    if (scalar !== undefined && isSymbol(this.#token(2), ')')) {
      this.#out.push('AS', scalar);
      this.#at += 1;
      return;
    }
    const [width, scale] = [this.#token(3)?.text ?? '', this.#token(5)?.text ?? ''];
    const signs = [2, 4, 6].map((i) => this.#token(i)?.text).join(' ');
    if (word !== 'DECIMAL' || signs !== '( , )' || !INTEGER.test(width) || !INTEGER.test(scale)) {
      throw this.#refusal('CAST to this type');
    }
    this.#out.push('AS', `DECIMAL(${width},${scale})`);
    this.#at += 6;
  }

  /**
   * A text has its type: otherwise DuckDB would take it for whatever it is compared with, and no cast would show that. A day is the same text
   * and the same date in Spark, which compares dates with texts.
   */
  #string({ text }: DialectToken): void {
    const before = this.#token(-1);
    const isPlace =
      before !== undefined && (before.kind === 'symbol' ? before.text !== ')' && before.text !== '.' : false);
    if (!isPlace && !BEFORE_TEXT.has(this.#wordAt(-1))) throw this.#refusal(`the text ${quoteLiteral(text)}`);
    const isDay = this.#dialect.isSpark && DATE.test(text);
    this.#out.push(isDay ? quoteLiteral(text) : `CAST(${quoteLiteral(text)} AS VARCHAR)`);
  }

  #number({ text }: DialectToken): void {
    const digits = text.replace('.', '');
    if (digits.length > 38 || (!text.includes('.') && !/[eE]/.test(text) && !INTEGER.test(text))) {
      throw this.#refusal('a number of so many digits');
    }
    if (this.#isBehindOperand()) throw this.#refusal(`the number ${text}`);
    this.#out.push(text);
  }

  #symbol(symbol: string): void {
    const frame = this.#frame();
    if (symbol === '(') {
      const before = this.#token(-1);
      if (before?.kind === 'quoted' || (before?.kind === 'word' && !BEFORE_BRACKET.has(this.#wordAt(-1)))) {
        throw this.#refusal('a bracket behind a name');
      }
      const { isHaving } = frame;
      this.#push({ ...newFrame('(', null), isHaving, isWindow: this.#wordAt(-1) === 'OVER' });
    } else if (symbol === ')') return this.#close();
    else if (symbol === ',') {
      newPart(frame);
      if (frame.order !== null) {
        this.#endOrder(frame);
        frame.order = this.#newOrder(1);
      }
      if (frame.call !== null && frame.call !== 'cast' && frame.call.kind === 'concat') {
        this.#out.push(')', '||', '(');
        return;
      }
    } else if (COMPARISONS.has(symbol)) this.#compare(frame);
    else if (symbol === '+' || symbol === '-') frame.hasSum = true;
    else if (symbol === '||') frame.hasConcat = true;
    else if (symbol === '%' && !/^[1-9]\d{0,17}$/.test(this.#token(1)?.text ?? '')) {
      throw this.#refusal('the rest of a division by what may be 0');
    } else if (symbol === '*' && !this.#isBehindOperand()) {
      this.#hasStar ||= !(isSymbol(this.#token(-1), '(') && isSymbol(this.#token(1), ')'));
    }
    if (this.#dialect.isSpark && frame.hasSum && frame.hasConcat) {
      throw this.#refusal('|| beside + or - without brackets');
    }
    this.#out.push(symbol);
  }

  #close(): void {
    const { call } = this.#pop('(');
    this.#out.push(')');
    if (call !== null && call !== 'cast' && call.kind === 'concat') this.#out.push(')');
  }

  /** A second comparison without brackets: `a = b = c`, which engines read from the left, from the right, or not at all. */
  #compare(frame: Frame): void {
    frame.comparisons += 1;
    if (frame.comparisons > 1) throw this.#refusal('a comparison of a comparison without brackets');
    frame.hasSum = false;
    frame.hasConcat = false;
  }

  #endOrder(frame: Frame): void {
    if (frame.order === null) return;
    const { isDescending, hasNulls, start } = frame.order;
    const item = this.#tokens.slice(start, this.#at).map(({ kind, text }) => (kind === 'symbol' ? text : kind));
    // In an expression a name is the column here, and the alias elsewhere.
    if (!frame.isWindow && !ORDERED.test(item.join(' '))) throw this.#refusal('an order by an expression');
    const { ascending, descending } = this.#dialect.nulls;
    if (!hasNulls) this.#out.push('NULLS', isDescending ? descending : ascending);
    frame.order = null;
  }

  #newOrder(distance: number): Frame['order'] {
    return { start: this.#at + distance, isDescending: false, hasNulls: false };
  }

  #push(frame: Frame): void {
    if (this.#frames.length >= DEPTH_MAX) throw this.#refusal(`brackets more than ${DEPTH_MAX} deep`);
    this.#frames.push(frame);
  }

  #pop(opener: Frame['opener']): Frame {
    const frame = this.#frame();
    if (frame.opener !== opener) throw this.#refusal('a bracket without its other half');
    this.#endOrder(frame);
    this.#frames.pop();
    return frame;
  }

  #frame(): Frame {
    return this.#frames.at(-1) ?? newFrame('all', null);
  }

  #token(distance: number): DialectToken | undefined {
    return this.#tokens[this.#at + distance];
  }

  #wordAt(distance: number): string {
    const token = this.#token(distance);
    return token?.kind === 'word' ? foldKeyword(token.text) : '';
  }

  #isBehindOperand(): boolean {
    const before = this.#token(-1);
    if (before === undefined) return false;
    if (before.kind === 'symbol') return before.text === ')';
    return before.kind !== 'word' || !KEYWORDS.has(foldKeyword(before.text)) || OPERAND_ENDS.has(this.#wordAt(-1));
  }

  #refusal(reason: string): Error {
    const token = this.#token(0) ?? this.#tokens.at(-1);
    return untranslated(this.#dialect, reason, { sql: this.#sql, position: token?.start ?? 0 });
  }
}

const newFrame = (opener: Frame['opener'], call: Frame['call']): Frame => ({
  opener,
  call,
  comparisons: 0,
  hasSum: false,
  hasConcat: false,
  isBetween: false,
  order: null,
  isWindow: false,
  isHaving: false,
});

const newPart = (frame: Frame): void =>
  void Object.assign(frame, { comparisons: 0, hasSum: false, hasConcat: false, isBetween: false });

const isSymbol = (token: DialectToken | undefined, symbol: string): boolean =>
  token?.kind === 'symbol' && token.text === symbol;
