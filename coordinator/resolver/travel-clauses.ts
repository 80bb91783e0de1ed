import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { Tokenizer, type Token } from '#shared/sql/tokenizer.ts';

type Range = { readonly start: number; readonly end: number };

/** `FOR VERSION | TIMESTAMP AS OF value [[AS] alias [(column, ...)]]`, from its first word to the end of the alias. */
export type TravelClause = Range & {
  /** The word that DuckDB's AT has for it. */
  readonly unit: 'VERSION' | 'TIMESTAMP';
  readonly value: Range;
  readonly alias: Range | null;
};

const UNITS: Readonly<Record<string, TravelClause['unit']>> = {
  VERSION: 'VERSION',
  SYSTEM_VERSION: 'VERSION',
  TIMESTAMP: 'TIMESTAMP',
  SYSTEM_TIME: 'TIMESTAMP',
};

/** Words that may follow a table and its alias. All other words behind the value are an alias. */
const BEHIND_TABLE: ReadonlySet<string> = new Set(
  (
    'ANTI ASOF AT CROSS EXCEPT FETCH FOR FROM FULL GROUP HAVING INNER INTERSECT JOIN LATERAL LEFT LIMIT NATURAL OFFSET ON ORDER PIVOT ' +
    'POSITIONAL QUALIFY RETURNING RIGHT SELECT SEMI SET TABLESAMPLE UNION UNPIVOT USING WHEN WHERE WINDOW'
  ).split(' '),
);
/** Words of a unit behind INTERVAL and its number. */
const INTERVAL_UNIT =
  /^(?:MICROSECOND|MILLISECOND|SECOND|MINUTE|HOUR|DAY|WEEK|MONTH|QUARTER|YEAR|DECADE|CENTURY|MILLENNIUM)S?$/;
const BINARY_SYMBOL = /^[+\-*/%|&^<>=!~]$/;

/**
 * Finds the clauses that Trino and Spark write behind a table. No other text of SQL has these four words in a row.
 *
 *     FROM t FOR VERSION AS OF 11 AS x WHERE a = 1          value `11`, alias `AS x`
 */
export function travelClauses(sql: string): readonly TravelClause[] {
  if (!/\bfor\b/i.test(sql) || !/\bof\b/i.test(sql)) return [];
  const found: TravelClause[] = [];
  const tokens = new Lookahead(sql);
  while (tokens.now.kind !== 'end') {
    const { start } = tokens.now;
    if (!tokens.takeWord('FOR')) {
      tokens.take();
      continue;
    }
    const unit = tokens.now.kind === 'word' ? UNITS[tokens.word] : undefined;
    if (unit === undefined) continue;
    tokens.take();
    if (!tokens.takeWord('AS') || !tokens.takeWord('OF')) continue;
    const value = { start: tokens.now.start, end: expressionEnd(tokens) };
    // The parser reports what stands there instead of a value.
    if (value.end <= value.start) continue;
    const alias = readAlias(tokens);
    found.push({ start, end: alias?.end ?? value.end, unit, value, alias });
  }
  return found;
}

/** Takes the operands and operators of an expression that is in no bracket. */
function expressionEnd(tokens: Lookahead): number {
  let end = -1;
  for (;;) {
    while (tokens.takeSymbol('-') || tokens.takeSymbol('+')) end = -1;
    const operand = operandEnd(tokens);
    if (operand < 0) return end;
    end = operand;
    if (tokens.now.kind === 'symbol' && BINARY_SYMBOL.test(tokens.text)) {
      while (tokens.now.kind === 'symbol' && BINARY_SYMBOL.test(tokens.text)) tokens.take();
    } else if (tokens.word === 'AT' && tokens.nextWord === 'TIME') {
      // AT TIME ZONE 'UTC'
      tokens.take();
      tokens.take();
      tokens.takeWord('ZONE');
    } else {
      return end;
    }
  }
}

/** Takes one operand: a literal, a name, a call, or brackets, with its casts; negative when none stands here. */
function operandEnd(tokens: Lookahead): number {
  const { kind } = tokens.now;
  if (kind === 'symbol' && tokens.text === '$') tokens.take();
  if (kind === 'symbol' && !['(', '[', '$', '?'].includes(tokens.text)) return -1;
  if (kind === 'end' || (kind === 'word' && BEHIND_TABLE.has(tokens.word))) return -1;
  let end = -1;
  if (kind === 'symbol' && tokens.text !== '?') end = tokens.takeBrackets();
  if (end < 0) {
    const isInterval = tokens.word === 'INTERVAL';
    end = tokens.take().end;
    if (kind === 'word') end = typedEnd(tokens, end, isInterval);
  }
  for (;;) {
    const brackets = tokens.takeBrackets();
    if (brackets >= 0) end = brackets;
    else if (tokens.takeSymbol('.')) end = tokens.take().end;
    else if (tokens.takeSymbol(':')) {
      tokens.takeSymbol(':');
      end = typeEnd(tokens);
    } else return end;
  }
}

/** The rest of an operand that begins with a word: `DATE '...'`, `TIMESTAMP WITH TIME ZONE '...'`, `INTERVAL 3 DAY`. */
function typedEnd(tokens: Lookahead, from: number, isInterval: boolean): number {
  let end = zoneEnd(tokens, from);
  if (isInterval && tokens.now.kind === 'symbol' && tokens.text === '(') end = tokens.takeBrackets();
  else if (tokens.now.kind === 'string' || (isInterval && tokens.now.kind === 'number')) end = tokens.take().end;
  if (isInterval && tokens.now.kind === 'word' && INTERVAL_UNIT.test(tokens.word)) end = tokens.take().end;
  return end;
}

function typeEnd(tokens: Lookahead): number {
  const end = tokens.take().end;
  return zoneEnd(tokens, end);
}

/** Takes `WITH TIME ZONE` behind the name of a type. */
function zoneEnd(tokens: Lookahead, end: number): number {
  if (tokens.nextWord !== 'TIME' || !(tokens.takeWord('WITH') || tokens.takeWord('WITHOUT'))) return end;
  const time = tokens.take().end;
  const zone = tokens.now.end;
  return tokens.takeWord('ZONE') ? zone : time;
}

function readAlias(tokens: Lookahead): Range | null {
  const { start } = tokens.now;
  const hasAs = tokens.takeWord('AS');
  const { kind } = tokens.now;
  const isName = kind === 'quoted' || (kind === 'word' && (hasAs || !BEHIND_TABLE.has(tokens.word)));
  if (!isName) return null;
  const name = tokens.take();
  const columns = tokens.takeBrackets();
  return { start, end: columns < 0 ? name.end : columns };
}

/** The tokens of a text, with the present one and the word behind it. */
class Lookahead {
  readonly #tokens: Tokenizer;
  #now: Token;
  #next: Token;

  constructor(text: string) {
    this.#tokens = new Tokenizer(text);
    this.#now = this.#tokens.next();
    this.#next = this.#tokens.next();
  }

  get now(): Token {
    return this.#now;
  }

  get text(): string {
    return this.#textOf(this.#now);
  }

  /** The word in capitals; '' for any other token. */
  get word(): string {
    return this.#now.kind === 'word' ? foldKeyword(this.text) : '';
  }

  get nextWord(): string {
    return this.#next.kind === 'word' ? foldKeyword(this.#textOf(this.#next)) : '';
  }

  take(): Token {
    const token = this.#now;
    this.#now = this.#next;
    this.#next = this.#tokens.next();
    return token;
  }

  takeWord(word: string): boolean {
    const is = this.word === word;
    if (is) this.take();
    return is;
  }

  takeSymbol(symbol: string): boolean {
    const is = this.#now.kind === 'symbol' && this.text === symbol;
    if (is) this.take();
    return is;
  }

  /** Takes brackets with what stands in them. @returns their end; negative when none begins here */
  takeBrackets(): number {
    if (this.#now.kind !== 'symbol' || (this.text !== '(' && this.text !== '[')) return -1;
    let depth = 0;
    for (;;) {
      const token = this.take();
      const text = token.kind === 'symbol' ? this.#textOf(token) : '';
      if (text === '(' || text === '[') depth += 1;
      if (text === ')' || text === ']') depth -= 1;
      if (depth === 0 || token.kind === 'end') return token.end;
    }
  }

  #textOf = ({ start, end }: Token): string => this.#tokens.text.slice(start, end);
}
