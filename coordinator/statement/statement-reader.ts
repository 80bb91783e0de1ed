import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import type { ObjectName, TextSpan } from './statement.ts';
import { identifierText, stringText, Tokenizer, type Token } from '#shared/sql/tokenizer.ts';

/**
 * First words of SQL statements: one that no command takes is NOT_SUPPORTED. A text with another first word, or without the word of
 * `MUST_FOLLOW`, is a SYNTAX_ERROR.
 */
const KNOWN_STATEMENTS: ReadonlySet<string> = new Set(
  `ALTER ANALYZE ATTACH CALL CHECKPOINT CLEAR CLOSE COMMENT COPY CREATE DECLARE DELETE DENY DETACH DISCARD DO DROP
  EXPORT EXPUNGE FETCH FORCE GRANT IMPORT INSERT INSTALL LISTEN LOAD LOCK MERGE NOTIFY PRAGMA REDEEM REFRESH
  REINDEX RELEASE REPLACE REVOKE SAVEPOINT TRUNCATE UNDROP UNLISTEN UPDATE UPSERT VACUUM`.split(/\s+/),
);

/** Words that must follow a first word: no other statement begins with it. */
const MUST_FOLLOW: Readonly<Record<string, string>> = {
  DELETE: 'FROM',
  INSERT: 'INTO or OVERWRITE',
  MERGE: 'INTO',
};
/** First words behind which the kind of an object stands, and words between the two. */
const WITH_OBJECT: ReadonlySet<string> = new Set(['CREATE', 'DROP', 'ALTER', 'COMMENT', 'UNDROP']);
const BEFORE_OBJECT: ReadonlySet<string> = new Set(
  'OR REPLACE TEMP TEMPORARY PERSISTENT UNIQUE LOCAL GLOBAL EXTERNAL FOREIGN UNLOGGED RECURSIVE ON'.split(' '),
);

const OPEN: ReadonlySet<string> = new Set(['(', '[', '{']);
const CLOSE: ReadonlySet<string> = new Set([')', ']', '}']);

const ENDS_OF_REFERENCE: ReadonlySet<string> = new Set([',', ';', '(', ')']);
const COMMENT = /^(?:--|\/\*)/;

/** The tokens of one statement of our own grammar. Keywords are compared without case; errors name the token that was found. */
export class StatementReader {
  readonly #span: TextSpan;
  readonly #tokenizer: Tokenizer;
  /** Tokens that were read ahead; the grammar needs a few. */
  readonly #ahead: Token[] = [];

  constructor(span: TextSpan) {
    this.#span = span;
    this.#tokenizer = new Tokenizer(span.text);
  }

  /** The 0-based character position of the next token in the statement. */
  get position(): number {
    return this.#span.offset + this.#peek(0).start;
  }

  peekWord(distance = 0): string {
    const token = this.#peek(distance);
    return token.kind === 'word' ? foldKeyword(this.#text(token)) : '';
  }

  peekSymbol(symbol: string, distance = 0): boolean {
    const token = this.#peek(distance);
    return token.kind === 'symbol' && this.#text(token) === symbol;
  }

  /** Whether these words come next, or this symbol. Two or more words do not when a dot follows: they begin a name. */
  peekPhrase(phrase: string): boolean {
    const words = phrase.split(' ');
    if (words.length === 1 && this.peekSymbol(phrase)) return true;
    return (
      words.every((word, i) => this.peekWord(i) === word) && !(words.length > 1 && this.peekSymbol('.', words.length))
    );
  }

  atEnd(distance = 0): boolean {
    return this.#peek(distance).kind === 'end';
  }

  /** The next word, in capitals. @throws SYNTAX_ERROR */
  word(): string {
    const word = this.peekWord();
    if (word === '') throw this.expected('a keyword');
    this.#ahead.shift();
    return word;
  }

  /** Takes so many words. @throws SYNTAX_ERROR */
  words(count: number): void {
    for (let i = 0; i < count; i += 1) this.word();
  }

  takeWord(word: string): boolean {
    return this.takeWords(word);
  }

  /** Takes all of the words or none. */
  takeWords(...words: readonly string[]): boolean {
    if (!words.every((word, i) => this.peekWord(i) === word)) return false;
    this.#ahead.splice(0, words.length);
    return true;
  }

  takeSymbol(symbol: string): boolean {
    if (!this.peekSymbol(symbol)) return false;
    this.#ahead.shift();
    return true;
  }

  takeString(): string | null {
    const token = this.#take('string');
    return token === null ? null : stringText(this.#span.text, token);
  }

  takeNumber(): string | null {
    const token = this.#take('number');
    return token === null ? null : this.#text(token);
  }

  /** One identifier, quoted or not, as it is spelled. */
  takeName(): string | null {
    const token = this.#take('word') ?? this.#take('quoted');
    return token === null ? null : identifierText(this.#span.text, token);
  }

  /**
   * Takes the text that begins with `@`, as it is written, up to a space, a comma, a semicolon or a bracket; or the value of a string that begins so. Null
   * when neither comes next. @throws SYNTAX_ERROR for a quote or a comment within it
   */
  takeReference(): TextSpan | null {
    const { position } = this;
    const first = this.#peek(0);
    if (first.kind === 'string') {
      const text = stringText(this.#span.text, first);
      if (!text.startsWith('@')) return null;
      this.#ahead.shift();
      return { text, offset: position };
    }
    if (!this.peekSymbol('@')) return null;
    let { end } = first;
    for (this.#ahead.shift(); ; this.#ahead.shift()) {
      const token = this.#peek(0);
      if (token.start !== end || token.kind === 'end' || ENDS_OF_REFERENCE.has(this.#text(token))) break;
      if (token.kind === 'string' || token.kind === 'bits') throw this.expected('a quoted path');
      ({ end } = token);
    }
    if (COMMENT.test(this.#span.text.slice(end, end + 2))) {
      throw this.error('SYNTAX_ERROR', 'a path with the sign of a comment stands in quotes');
    }
    return { text: this.#span.text.slice(first.start, end), offset: position };
  }

  /** A dotted name of at most `partsMax` parts. @throws SYNTAX_ERROR */
  name(what: string, partsMax: number): ObjectName {
    const position = this.#peek(0).start + this.#span.offset;
    const parts: string[] = [];
    do {
      const part = this.takeName();
      if (part === null || part === '') throw this.expected(parts.length === 0 ? `the name of ${what}` : 'a name');
      parts.push(part);
      if (parts.length > partsMax) throw this.error('SYNTAX_ERROR', `the name of ${what} has too many parts`);
    } while (this.takeSymbol('.'));
    return { parts, position };
  }

  /** The parts of a list in brackets, separated by commas, as they are written. @throws SYNTAX_ERROR */
  list(what: string): readonly TextSpan[] {
    if (!this.takeSymbol('(')) throw this.expected("'('");
    const parts: TextSpan[] = [];
    let first: Token | null = null;
    let end = 0;
    for (let depth = 0; ;) {
      const token = this.#peek(0);
      const symbol = token.kind === 'symbol' ? this.#text(token) : '';
      if (token.kind === 'end') throw this.expected("')'");
      const isEnd = depth === 0 && (symbol === ',' || CLOSE.has(symbol));
      if (isEnd && first === null) throw this.expected(what);
      if (OPEN.has(symbol)) depth += 1;
      else if (CLOSE.has(symbol)) depth -= 1;
      this.#ahead.shift();
      if (!isEnd || first === null) {
        first ??= token;
        end = token.end;
        continue;
      }
      parts.push({ text: this.#span.text.slice(first.start, end), offset: this.#span.offset + first.start });
      first = null;
      if (symbol === ',') continue;
      if (symbol === ')') return parts;
      throw this.expected("')'");
    }
  }

  /**
   * Takes an expression as it is written, up to a comma or one of the words outside of brackets, or to the end of the statement.
   * @param ends in capitals @throws SYNTAX_ERROR when there is nothing, and for a bracket without its other half
   */
  expression(what: string, ...ends: readonly string[]): TextSpan {
    return this.#until(what, ends, ',');
  }

  /** The same for a clause, in which commas may stand; it may end at a closing bracket, too. */
  clause(what: string, ...ends: readonly string[]): TextSpan {
    return this.#until(what, ends, null);
  }

  #until(what: string, ends: readonly string[], separator: ',' | null): TextSpan {
    let first: Token | null = null;
    let end = 0;
    let before = '';
    for (let depth = 0; ; this.#ahead.shift()) {
      const token = this.#peek(0);
      const symbol = token.kind === 'symbol' ? this.#text(token) : '';
      const word = this.peekWord();
      // `IS DISTINCT FROM` is an operator.
      const endsHere =
        symbol === separator ||
        (symbol === ')' && ends.includes(')')) ||
        (ends.includes(word) && !(word === 'FROM' && before === 'DISTINCT'));
      if (token.kind === 'end' || (depth === 0 && endsHere)) {
        if (depth > 0) throw this.expected("')'");
        if (first === null) throw this.expected(what);
        return { text: this.#span.text.slice(first.start, end), offset: this.#span.offset + first.start };
      }
      if (OPEN.has(symbol) || word === 'CASE') depth += 1;
      else if (CLOSE.has(symbol) || word === 'END') depth -= 1;
      if (depth < 0) throw this.expected('the end of the statement');
      first ??= token;
      end = token.end;
      before = word;
    }
  }

  /** Returns the rest of the statement as text, and takes none of it. */
  rest(): TextSpan {
    const { start } = this.#peek(0);
    return { text: this.#span.text.slice(start), offset: this.#span.offset + start };
  }

  /** Takes the rest of the statement as text. */
  takeRest(): TextSpan {
    const rest = this.rest();
    this.#ahead.length = 0;
    this.#tokenizer.end();
    return rest;
  }

  /** Takes everything. @returns the place of the last of these words outside of brackets that neither follows a dot nor AS; null = none */
  find(word: string): number | null {
    let found: number | null = null;
    let mayFollow = true;
    for (let depth = 0; !this.atEnd(); this.#ahead.shift()) {
      const token = this.#peek(0);
      const symbol = token.kind === 'symbol' ? this.#text(token) : '';
      if (OPEN.has(symbol)) depth += 1;
      else if (CLOSE.has(symbol)) depth -= 1;
      else if (depth === 0 && mayFollow && this.peekWord() === word) found = this.position;
      mayFollow = symbol !== '.' && this.peekWord() !== 'AS';
    }
    return found;
  }

  /** @throws SYNTAX_ERROR when something is left. */
  end(): void {
    if (!this.atEnd()) throw this.expected('the end of the statement');
  }

  expected(what: string): SkeinError {
    const token = this.#peek(0);
    const found = token.kind === 'end' ? 'the statement ends' : `${JSON.stringify(clip(this.#text(token)))} stands`;
    return this.error('SYNTAX_ERROR', `expected ${what} where ${found}`);
  }

  error(code: ErrorCode, message: string): SkeinError {
    return new SkeinError(code, message, { position: this.#span.offset + this.#peek(0).start });
  }

  /** Refuses a statement that begins with `word` and matches no rule of the grammar. */
  refuse(word: string): never {
    const next = MUST_FOLLOW[word];
    if (next !== undefined) {
      this.word();
      throw this.expected(next);
    }
    if (KNOWN_STATEMENTS.has(word)) throw this.error('NOT_SUPPORTED', `${this.#firstWords(word)} is not served`);
    const found = this.#text(this.#peek(0));
    throw this.error('SYNTAX_ERROR', found === '' ? 'a query is missing' : `syntax error at "${clip(found)}"`);
  }

  /** The first word, and where it needs an object the words up to that: `CREATE OR REPLACE MACRO`. */
  #firstWords(word: string): string {
    if (!WITH_OBJECT.has(word)) return word;
    const words = [word];
    for (let i = 1; this.peekWord(i) !== ''; i += 1) {
      words.push(clip(this.peekWord(i)));
      if (!BEFORE_OBJECT.has(this.peekWord(i))) break;
    }
    return words.join(' ');
  }

  #take(kind: Token['kind']): Token | null {
    return this.#peek(0).kind === kind ? must(this.#ahead.shift(), 'a token was peeked') : null;
  }

  #peek(distance: number): Token {
    while (this.#ahead.length <= distance) this.#ahead.push(this.#tokenizer.next());
    return must(this.#ahead[distance], 'tokens were read ahead');
  }

  #text(token: Token): string {
    return this.#span.text.slice(token.start, token.end);
  }
}

const clip = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}...` : text);
