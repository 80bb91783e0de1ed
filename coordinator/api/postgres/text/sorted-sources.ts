import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { CallText, Span } from './call-text.ts';

/** The order of a subquery, as what an aggregate over it sorts by. */
type Source = {
  readonly order: string;
  /** One more column of the subquery, and the token behind which it gets it. */
  readonly column: { readonly behind: number; readonly text: string } | null;
};

/** Words of which one ends the sources of a SELECT. */
const BEHIND_FROM: ReadonlySet<string> = new Set([
  'WHERE',
  'GROUP',
  'HAVING',
  'WINDOW',
  'ORDER',
  'LIMIT',
  'OFFSET',
  'FETCH',
  'FOR',
]);
/** Tokens that are looked at for whole rows, in all queries of a statement. */
const LOOKED_MAX = 2_000_000;
const SETS: ReadonlySet<string> = new Set(['UNION', 'INTERSECT', 'EXCEPT']);
/** Words behind a key of ORDER BY. */
const DIRECTIONS: ReadonlySet<string> = new Set(['ASC', 'DESC', 'NULLS', 'FIRST', 'LAST']);
const BEHIND_ORDER: ReadonlySet<string> = new Set(['LIMIT', 'OFFSET', 'FETCH', 'FOR']);

/**
 * Aggregates whose only source is a sorted subquery. Postgres hands the rows on in that order, on which jOOQ's MULTISET counts; the engine hands
 * them on in any, so that the order becomes a column:
 * ```
 * SELECT jsonb_agg(t.a) FROM (SELECT a FROM u ORDER BY b) AS t
 *   ->  SELECT to_json(list(t.a ORDER BY skein_order_4)) FROM (SELECT a, row_number() OVER (ORDER BY b) AS skein_order_4 FROM u ORDER BY b) AS t
 * ```
 * Where the column would show or would mean something else (the source is read as a whole row or by a star, the subquery has DISTINCT, a set
 * operation, BY ALL, or sorts by the name of a result) the aggregate sorts by columns of the result, as long as the subquery does:
 * ```
 * SELECT json_agg(t) FROM (SELECT a, b FROM u ORDER BY b DESC) t  ->  SELECT to_json(list(t ORDER BY t.b DESC)) FROM (SELECT a, b FROM u ORDER BY b DESC) t
 * ```
 */
export class SortedSources {
  readonly #text: CallText;
  /** By the first token of a SELECT; null = its rows come in no order. */
  readonly #sources = new Map<number, Source | null>();
  readonly #written = new Set<string>();

  constructor(text: CallText) {
    this.#text = text;
  }

  /** The order of the rows of a call at a token, by which the subquery lets it sort from now on; undefined where there is none. */
  orderOf(at: number): string | undefined {
    const select = this.#text.selectAround(at);
    if (select === undefined) return undefined;
    const known = this.#sources.get(select.from);
    const source = known === undefined ? this.#sourceOf(select) : known;
    this.#sources.set(select.from, source);
    if (source === null) return undefined;
    const { order, column } = source;
    if (column !== null && !this.#written.has(order)) this.#text.append(column.behind, column.text);
    this.#written.add(order);
    return order;
  }

  /** Tokens that were looked at: queries within queries are, as often as they are deep. */
  #looked = 0;

  #sourceOf(select: Span): Source | null {
    const text = this.#text;
    const places = this.#placesOf(select);
    const from = places.find((at) => text.word(at) === 'FROM');
    const close = from === undefined || text.word(from + 2) !== 'SELECT' ? undefined : text.closing(from + 1);
    if (from === undefined || close === undefined || text.symbol(from + 1) !== '(') return null;
    const alias = text.word(close + 1) === 'AS' ? close + 2 : close + 1;
    const name = text.name(alias);
    const next = text.word(alias + 1);
    const isLast = alias + 1 >= select.to || BEHIND_FROM.has(next);
    if (name === '' || !isLast || places.some((at) => SETS.has(text.word(at)))) return null;
    const query = { from: from + 2, to: close };
    const byColumn = this.#isWhole(select, from, name) ? null : this.#sortedBy(query);
    return byColumn ?? this.#sortedByResults(query, text.textBetween(alias, alias + 1));
  }

  /** The tokens of a SELECT that are in no brackets within it. */
  #placesOf({ from, to }: Span): readonly number[] {
    const found: number[] = [];
    for (let at = from; at < to; at += 1) {
      found.push(at);
      at = this.#text.closing(at) ?? at;
    }
    return found;
  }

  /** Whether a SELECT reads its source as a row, or by a star. */
  #isWhole({ from, to }: Span, fromWord: number, name: string): boolean {
    this.#looked += to - from;
    if (this.#looked > LOOKED_MAX) return true;
    const folded = foldIdentifier(name);
    for (let at = from; at < to; at += 1) {
      // The source itself is looked at elsewhere.
      if (at === fromWord + 1) at = this.#text.closing(at) ?? at;
      if (this.#isStar(at)) return true;
      const isName = foldIdentifier(this.#text.name(at)) === folded;
      const isAlias = at > fromWord && at <= (this.#text.closing(fromWord + 1) ?? 0) + 2;
      if (isName && !isAlias && this.#text.symbol(at + 1) !== '.' && this.#text.symbol(at - 1) !== '.') return true;
    }
    return false;
  }

  #isStar(at: number): boolean {
    const text = this.#text;
    if (text.symbol(at) !== '*') return false;
    return (
      text.word(at - 1) === 'SELECT' || [',', '.'].includes(text.symbol(at - 1)) || text.word(at - 2) === 'COLUMNS'
    );
  }

  #sortedBy(query: Span): Source | null {
    const text = this.#text;
    const places = this.#placesOf(query);
    const from = places.find((at) => text.word(at) === 'FROM');
    const order = places.find((at) => text.word(at) === 'ORDER' && text.word(at + 1) === 'BY');
    if (from === undefined || order === undefined || text.word(query.from + 1) === 'DISTINCT') return null;
    if (places.some((at) => SETS.has(text.word(at)))) return null;
    // GROUP BY ALL and ORDER BY ALL mean the columns that there are.
    if (places.some((at) => text.word(at) === 'ALL' && text.word(at - 1) === 'BY')) return null;
    const end = places.find((at) => at > order && BEHIND_ORDER.has(text.word(at))) ?? query.to;
    const [first, last] = [order + 2, end];
    const results = new Set(
      places.filter((at) => at < from && this.#isResult(at)).map((at) => foldIdentifier(text.name(at))),
    );
    const isPlain = places
      .filter((at) => at >= first && at < last)
      .every((at) => {
        const isPlace = text.isNumber(at) && (at === first || text.symbol(at - 1) === ',');
        const isQualified = text.symbol(at - 1) === '.' || text.symbol(at + 1) === '.';
        return !isPlace && (isQualified || !results.has(foldIdentifier(text.name(at))));
      });
    if (!isPlain || first >= last || !text.canRepeat(first, last)) return null;
    const column = `skein_order_${query.from}`;
    const keys = text.textBetween(first, last);
    return { order: column, column: { behind: from - 1, text: `, row_number() OVER (ORDER BY ${keys}) AS ${column}` } };
  }

  /** The order of a query that sorts by columns of its result alone. */
  #sortedByResults(query: Span, alias: string): Source | null {
    const text = this.#text;
    const places = this.#placesOf(query);
    const order = places.find((at) => text.word(at) === 'ORDER' && text.word(at + 1) === 'BY');
    if (order === undefined) return null;
    const end = places.find((at) => at > order && BEHIND_ORDER.has(text.word(at))) ?? query.to;
    const results = this.#resultsOf(query, places);
    const keys: string[] = [];
    for (let at = order + 2; at < end; at += 1) {
      const name = text.name(at);
      if (name === '' || results.get(foldIdentifier(name)) !== 1) return null;
      const first = at;
      while (at + 1 < end && DIRECTIONS.has(text.word(at + 1))) at += 1;
      if (at + 1 < end && text.symbol(at + 1) !== ',') return null;
      keys.push(`${alias}.${text.textBetween(first, at + 1)}`);
      at += 1;
    }
    return keys.length === 0 ? null : { order: keys.join(', '), column: null };
  }

  /** How often a SELECT gives each name to a column, as far as it says names. */
  #resultsOf({ from }: Span, places: readonly number[]): ReadonlyMap<string, number> {
    const text = this.#text;
    const counts = new Map<string, number>();
    const end = text.endOfColumns(from);
    for (const at of places.filter((place) => place > from && place < end)) {
      const isLast = at + 1 === end || text.symbol(at + 1) === ',';
      const before = text.symbol(at - 1);
      const isFirst = before === ',' || ['SELECT', 'DISTINCT', 'ALL'].includes(text.word(at - 1));
      if (text.symbol(at) === '*' && (isFirst || before === '.')) return new Map();
      if (!isLast || text.name(at) === '' || !(isFirst || before === '.' || this.#isResult(at))) continue;
      const name = foldIdentifier(text.name(at));
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }

  /** Whether a name in the list of a SELECT is that of a result: `a + 1 AS b`, `a b`. */
  #isResult(at: number): boolean {
    const text = this.#text;
    if (text.name(at) === '' || (text.symbol(at + 1) !== ',' && text.word(at + 1) !== 'FROM')) return false;
    const before = text.word(at - 1);
    return text.name(at - 1) !== ''
      ? before !== 'SELECT' && before !== 'ALL'
      : [')', ']'].includes(text.symbol(at - 1));
  }
}
