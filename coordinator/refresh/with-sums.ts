import { SkeinError } from '#shared/error.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { identifierText, Tokenizer } from '#shared/sql/tokenizer.ts';

/** A column of a query that is an average, by its place, and the names of the columns that are added for it. */
export type SummedColumn = {
  readonly place: number;
  /** Digits behind the point of the values. */
  readonly scale: number;
  readonly sum: string;
  readonly count: string;
};

/** A token outside of brackets, or brackets with all that they hold. `word` is empty for what is no word and no quoted name. */
type Piece = { readonly kind: string; readonly word: string; readonly start: number; readonly end: number };

/**
 * Adds the sum and the count of each average behind the columns of a query, made of the average's own text:
 *
 *     SELECT k, avg(x) FILTER (y) AS m FROM t     ->
 *     SELECT k, avg(x) FILTER (y) AS m, sum(CAST(x AS DECIMAL(38,2))) FILTER (y) AS "s", count(x) FILTER (y) AS "c" FROM t
 *
 * It also does so within the `SELECT * FROM (query) AS "v"(names)` that a view with names of its own is kept as. The caller compares the
 * columns of the result with those of the query.
 * @param width the number of the query's columns
 * @returns null where the averages are not written as columns of the outermost SELECT
 */
export function withSums(sql: string, columns: readonly SummedColumn[], width: number): string | null {
  const pieces = piecesOf(sql);
  if (pieces === null) return null;
  const inner = namedQuery(sql, pieces);
  if (inner !== null) {
    const [query, names] = inner;
    const text = withSums(sql.slice(query.start + 1, query.end - 1), columns, width);
    if (text === null) return null;
    const added = columns.map(({ sum, count }) => `, "${sum}", "${count}"`).join('');
    return `${sql.slice(0, query.start + 1)}${text}${sql.slice(query.end - 1, names.end - 1)}${added})`;
  }
  const list = selectList(sql, pieces);
  if (list === null || list.items.length !== width) return null;
  const added: string[] = [];
  for (const { place, scale, sum, count } of columns) {
    const call = averageCall(sql, list.items[place] ?? []);
    if (call === null) return null;
    const { argument, filter } = call;
    added.push(`sum(CAST(${argument} AS DECIMAL(38,${scale})))${filter} AS "${sum}"`);
    added.push(`count(${argument})${filter} AS "${count}"`);
  }
  return `${sql.slice(0, list.end)}${list.endsInComma ? ' ' : ', '}${added.join(', ')}${sql.slice(list.end)}`;
}

const OPEN: ReadonlySet<string> = new Set(['(', '[', '{']);
const CLOSE: ReadonlySet<string> = new Set([')', ']', '}']);

/** Null for brackets that do not fit together. */
function piecesOf(sql: string): readonly Piece[] | null {
  const pieces: Piece[] = [];
  const tokens = new Tokenizer(sql);
  let depth = 0;
  let opened = 0;
  for (let token = nextToken(tokens); token?.kind !== 'end'; token = nextToken(tokens)) {
    if (token === null) return null;
    const { kind, start, end } = token;
    const symbol = kind === 'symbol' ? sql.slice(start, end) : '';
    if (OPEN.has(symbol)) {
      if (depth === 0) opened = start;
      depth += 1;
    } else if (CLOSE.has(symbol)) {
      depth -= 1;
      if (depth < 0) return null;
      if (depth === 0) pieces.push({ kind: sql.charAt(opened), word: '', start: opened, end });
    } else if (depth === 0) {
      const word = kind === 'word' || kind === 'quoted' ? foldKeyword(identifierText(sql, token)) : '';
      pieces.push({ kind: symbol === '' ? kind : symbol, word, start, end });
    }
  }
  return depth === 0 ? pieces : null;
}

/** Null for a quote that is not closed. */
function nextToken(tokens: Tokenizer): ReturnType<Tokenizer['next']> | null {
  try {
    return tokens.next();
  } catch (error) {
    if (error instanceof SkeinError) return null;
    throw error;
  }
}

const isKeyword = (piece: Piece | undefined, word: string): boolean => piece?.kind === 'word' && piece.word === word;

/** The brackets of the query and of the names in `SELECT * FROM (query) AS "v"(names)`; null for another text. */
function namedQuery(sql: string, pieces: readonly Piece[]): readonly [Piece, Piece] | null {
  const [select, star, from, query, as, name, names, ...rest] = pieces;
  if (query?.kind !== '(' || names?.kind !== '(' || rest.length > 0) return null;
  const isNamed =
    isKeyword(select, 'SELECT') &&
    star?.kind === '*' &&
    isKeyword(from, 'FROM') &&
    isKeyword(as, 'AS') &&
    name !== undefined;
  return isNamed && sql.slice(name.start, name.end) === '"v"' ? [query, names] : null;
}

const SET_OPERATIONS: ReadonlySet<string> = new Set(['UNION', 'INTERSECT', 'EXCEPT']);
/** Keywords, reserved in DuckDB, one of which is behind the columns of a SELECT. */
const BEHIND_COLUMNS: ReadonlySet<string> = new Set(
  'FROM INTO WHERE GROUP HAVING WINDOW QUALIFY ORDER LIMIT OFFSET USING FETCH'.split(' '),
);

type SelectList = {
  readonly items: readonly (readonly Piece[])[];
  /** The position behind the last of them. */
  readonly end: number;
  readonly endsInComma: boolean;
};

/** The columns of the only SELECT outside of brackets. */
function selectList(sql: string, pieces: readonly Piece[]): SelectList | null {
  const selects = pieces.flatMap((piece, i) => (isKeyword(piece, 'SELECT') ? [i] : []));
  const [select] = selects;
  const isUnfit = pieces.some(({ kind, word }) => kind === ';' || (kind === 'word' && SET_OPERATIONS.has(word)));
  if (select === undefined || selects.length > 1 || isUnfit) return null;
  const first = isKeyword(pieces[select + 1], 'ALL') ? select + 2 : select + 1;
  let behind = first;
  while (behind < pieces.length && !isBehind(pieces, behind)) behind += 1;
  const items: Piece[][] = [[]];
  for (const piece of pieces.slice(first, behind)) {
    if (piece.kind === ',') items.push([]);
    else items.at(-1)?.push(piece);
  }
  const endsInComma = items.at(-1)?.length === 0;
  if (endsInComma) items.pop();
  return items.some((item) => item.length === 0) || items.length === 0
    ? null
    : { items, end: pieces[behind - 1]?.end ?? sql.length, endsInComma };
}

/** FROM does not end the columns in `a IS DISTINCT FROM b`. */
function isBehind(pieces: readonly Piece[], at: number): boolean {
  const piece = pieces[at];
  if (piece?.kind !== 'word' || !BEHIND_COLUMNS.has(piece.word)) return false;
  return piece.word !== 'FROM' || !isKeyword(pieces[at - 1], 'DISTINCT');
}

const ALIASES: ReadonlySet<string> = new Set(['word', 'quoted', 'string']);

/** The texts of `[name :] avg(argument) [FILTER (...)] [[AS] name]`; null for another column. */
function averageCall(
  sql: string,
  item: readonly Piece[],
): { readonly argument: string; readonly filter: string } | null {
  const isPrefixed = item[1]?.kind === ':' && item[2]?.kind !== ':';
  const [name, argument, ...rest] = isPrefixed ? item.slice(2) : item;
  if (argument?.kind !== '(' || (name?.word !== 'AVG' && name?.word !== 'MEAN')) return null;
  const filter = isKeyword(rest[0], 'FILTER') && rest[1]?.kind === '(' ? rest.splice(0, 2).at(-1) : undefined;
  if (isKeyword(rest[0], 'AS')) rest.shift();
  if (rest.length > 1 || (rest[0] !== undefined && !ALIASES.has(rest[0].kind))) return null;
  return {
    argument: sql.slice(argument.start + 1, argument.end - 1),
    filter: filter === undefined ? '' : ` FILTER ${sql.slice(filter.start, filter.end)}`,
  };
}
