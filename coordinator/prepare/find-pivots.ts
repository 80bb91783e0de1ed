import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { must } from '#shared/must.ts';
import { Tokenizer, type Token } from '#shared/sql/tokenizer.ts';

export type Range = { readonly start: number; readonly end: number };

/** A `PIVOT source ON expression, ...` of which some expressions have no list of values: these come from the data. */
export type OpenPivot = {
  readonly start: number;
  /** The parts of the WITH clauses whose common tables the source may name, the outermost first. */
  readonly withs: readonly Range[];
  readonly source: Range;
  /** The expressions without a list; ` IN (...)` goes behind each. */
  readonly expressions: readonly Range[];
};

/** Longest query, in characters, that is searched for open pivots. */
const QUERY_LENGTH_MAX = 64 * 1024;

/**
 * Finds the PIVOT statements of a query whose columns depend on the data; a PIVOT within the source of another comes first. It looks at
 * words and brackets only; DuckDB's parser checks the rest when it gets the query with the lists of values.
 *
 *     WITH c AS (SELECT ...) PIVOT c ON x, y IN (1, 2) USING sum(v) GROUP BY g
 *     ^---- a with --------^       ^    ^ expression
 *                                 source
 */
export function findPivots(text: string): readonly OpenPivot[] {
  if (text.length > QUERY_LENGTH_MAX || !/\bpivot/i.test(text)) return [];
  const finder = new PivotFinder();
  finder.group(readGroup(text, new Tokenizer(text)), []);
  return finder.found;
}

/** An item at one bracket depth: a token, or a group in brackets. */
type Item = { readonly range: Range; readonly word: string; readonly inside: readonly Item[] | null };

const OPEN = new Set(['(', '[', '{']);
const CLOSE = new Set([')', ']', '}']);

function readGroup(text: string, tokens: Tokenizer): readonly Item[] {
  const stack: { readonly start: number; readonly items: Item[] }[] = [{ start: 0, items: [] }];
  const top = (): { readonly start: number; readonly items: Item[] } => must(stack.at(-1), 'a group is open');
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    const symbol = token.kind === 'symbol' ? text.slice(token.start, token.end) : '';
    if (OPEN.has(symbol)) stack.push({ start: token.start, items: [] });
    else if (CLOSE.has(symbol) && stack.length > 1) {
      const { start, items } = must(stack.pop(), 'a group is open');
      top().items.push({ range: { start, end: token.end }, word: '', inside: items });
    } else top().items.push({ range: token, word: wordOf(text, token, symbol), inside: null });
  }
  return must(stack[0], 'the whole text').items;
}

const wordOf = (text: string, token: Token, symbol: string): string =>
  token.kind === 'word' ? foldKeyword(text.slice(token.start, token.end)) : symbol;

/** Words that end a PIVOT, or a list of its expressions. DuckDB reserves all of them. */
const SET_OPERATIONS = new Set(['UNION', 'EXCEPT', 'INTERSECT']);
const AFTER_EXPRESSIONS = new Set(['USING', 'GROUP', 'ORDER', 'LIMIT', 'OFFSET']);

class PivotFinder {
  readonly found: OpenPivot[] = [];

  /** `withs`: the WITH clauses of the enclosing queries. */
  group(items: readonly Item[], withs: readonly Range[]): void {
    const { next, range } = this.#commonTables(items, withs);
    const known = range === null ? withs : [...withs, range];
    let isStart = true;
    for (let i = next; i < items.length; i += 1) {
      const item = must(items[i], 'an item');
      if (item.inside !== null) this.group(item.inside, known);
      if (isStart && (item.word === 'PIVOT' || item.word === 'PIVOT_WIDER')) {
        const end = endOf(items, i + 1, (word) => SET_OPERATIONS.has(word));
        for (const { inside } of items.slice(i + 1, end)) if (inside !== null) this.group(inside, known);
        this.#pivot(items.slice(i, end), known);
        i = end - 1;
        isStart = false;
        continue;
      }
      isStart = SET_OPERATIONS.has(item.word) || (isStart && ['ALL', 'DISTINCT', 'BY', 'NAME'].includes(item.word));
    }
  }

  /** The common tables that a group begins with: each sees those before it. */
  #commonTables(items: readonly Item[], withs: readonly Range[]): { next: number; range: Range | null } {
    const start = items[0]?.range.start ?? 0;
    let range: Range | null = null;
    let next = 0;
    if (items[0]?.word !== 'WITH') return { next, range };
    for (;;) {
      const body = items.findIndex(
        ({ inside }, i) =>
          i > next && inside !== null && ['AS', 'MATERIALIZED'].includes(items[i - 1]?.word ?? '') && i > next,
      );
      const found = body < 0 ? undefined : items[body];
      if (found?.inside == null) return { next: range === null ? 0 : next, range };
      this.group(found.inside, range === null ? withs : [...withs, range]);
      range = { start, end: found.range.end };
      next = body + 1;
      if (items[next]?.word !== ',') return { next, range };
    }
  }

  #pivot(items: readonly Item[], withs: readonly Range[]): void {
    const on = items.findLastIndex((item, i) => item.word === 'ON' && isKeyword(items, i));
    const source = rangeOf(items.slice(1, on));
    if (on < 0 || source === null) return;
    const end = endOf(items, on + 1, (word) => AFTER_EXPRESSIONS.has(word));
    const expressions = split(items.slice(on + 1, end))
      .filter((one) => !one.some((item, i) => item.word === 'IN' && isKeyword(one, i)))
      .flatMap((one) => rangeOf(one) ?? []);
    const start = must(items[0], 'the word PIVOT').range.start;
    if (expressions.length > 0) this.found.push({ start, withs, source, expressions });
  }
}

/** Whether the word at `i` is a keyword: after a dot or AS it is a name. */
const isKeyword = (items: readonly Item[], i: number): boolean => !['.', 'AS'].includes(items[i - 1]?.word ?? '');

function endOf(items: readonly Item[], from: number, ends: (word: string) => boolean): number {
  const end = items.findIndex((item, i) => i >= from && ends(item.word) && isKeyword(items, i));
  return end < 0 ? items.length : end;
}

function split(items: readonly Item[]): readonly (readonly Item[])[] {
  const parts: Item[][] = [[]];
  for (const item of items) {
    if (item.word === ',') parts.push([]);
    else parts.at(-1)?.push(item);
  }
  return parts;
}

function rangeOf(items: readonly Item[]): Range | null {
  const [first, last] = [items[0], items.at(-1)];
  return first === undefined || last === undefined ? null : { start: first.range.start, end: last.range.end };
}
