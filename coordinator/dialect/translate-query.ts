import { unreachable } from '#shared/must.ts';
import { foldIdentifier, foldKeyword } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { dialectTokens, type DialectToken } from './dialect-tokens.ts';
import {
  BEFORE_BRACKET,
  BEFORE_TEXT,
  BEHIND_HAVING,
  BORDERS,
  COMPARISONS,
  KEYWORDS,
  NILADIC,
  NO_ALIASES,
  OPERAND_ENDS,
  ORDERED,
  SIGNS,
  TYPES,
} from './dialect-words.ts';
import { untranslated, type Dialect } from './dialect.ts';
import { beginPart, newFrame, type Frame } from './frame.ts';

/** Brackets within brackets. */
const DEPTH_MAX = 100;

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d{1,6})?$/;
const INTEGER = /^\d{1,18}$/;

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
      else beginPart(frame);
    }
    if (BORDERS.has(word) && !(word === 'DISTINCT' && frame.comparisons > 0)) beginPart(frame);
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
    const spelling = this.#dialect.functions.get(foldIdentifier(name));
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
      beginPart(frame);
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

const isSymbol = (token: DialectToken | undefined, symbol: string): boolean =>
  token?.kind === 'symbol' && token.text === symbol;
