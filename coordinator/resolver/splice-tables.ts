import type { SqlText } from '#shared/task/sql-text.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import type { ParameterQuery, ParameterValue } from '../binding/planner.ts';
import { identifierText, Tokenizer, type Token } from '#shared/sql/tokenizer.ts';
import { parameterSql, type ValuePlace } from '../statement/value-place.ts';
import { ByteOffsets } from './byte-offsets.ts';
import type { QueryReferences, TableReference } from '../binding/query-references.ts';

/**
 * A query whose table names have become scans. The rest of the text stays as the user wrote it, so an error's position can be taken
 * back to it.
 *
 *     SELECT t.a FROM lake.s.t JOIN u AS x USING (a)
 *     SELECT t.a FROM <scan 0> AS "t" JOIN <scan 1> AS x USING (a)
 */
export type SplicedQuery = { readonly pieces: readonly Piece[] };

/** `start` is the offset in the user's text of the piece, or of what it replaces. */
type Piece =
  | { readonly kind: 'text'; readonly text: string; readonly start: number }
  | { readonly kind: 'inserted'; readonly text: string; readonly start: number }
  | { readonly kind: 'value'; readonly value: ValuePlace; readonly start: number }
  | { readonly kind: 'scan'; readonly scan: number; readonly start: number };

type Edit = {
  readonly start: number;
  readonly end: number;
  readonly isValue?: boolean;
  readonly insert: readonly ({ readonly scan: number } | { readonly value: ValuePlace } | string)[];
};

/**
 * Puts scan i, or that of `sameAs`, in the place of `references.tables[i]`, and marks the values of parameters.
 * @throws NOT_SUPPORTED when another name stands where the parser saw one.
 */
export function spliceTables(
  sql: string,
  references: QueryReferences,
  values: readonly ValuePlace[] = [],
): SplicedQuery {
  const offsets = new ByteOffsets(sql);
  const edits: Edit[] = [];
  const keywords = references.tables.length === 0 ? new Map<number, number>() : tableKeywords(sql);
  references.tables.forEach((table, scan) => {
    const start = offsets.toCharacter(table.location);
    edits.push(...tableEdits(sql, { start, word: keywords.get(start) ?? null }, table, table.sameAs ?? scan));
  });
  for (const { location, parts, alias } of references.columns.toSorted((a, b) => a.location - b.location)) {
    const start = offsets.toCharacter(location);
    edits.push({ start, end: nameEnd(sql, start, parts), insert: [quoteIdentifier(alias)] });
  }
  for (const { location, tables } of references.stars) {
    const excluded = tables.flatMap((index) => {
      const { qualifier, addresses } = must(references.tables[index], 'a star names tables of the query');
      return addresses.map((name) => `${quoteIdentifier(qualifier)}.${quoteIdentifier(name)}`);
    });
    if (excluded.length > 0) edits.push(starEdit(sql, offsets.toCharacter(location), excluded.join(', ')));
  }
  for (const { location, name } of references.names) {
    const end = offsets.toCharacter(location);
    edits.push({ start: end, end, insert: [` AS ${quoteIdentifier(name)}`] });
  }
  for (const value of values) edits.push({ start: value.start, end: value.end, insert: [{ value }], isValue: true });
  return { pieces: toPieces(sql, edits) };
}

/** The query for the planner, whose table function answers with the columns of a scan. */
export const plannerSql = (query: SplicedQuery): string => query.pieces.map(plannerText).join('');

/** The query with other names for its tables, those of `references.tables` in their order. */
export const renamedSql = (query: SplicedQuery, names: readonly string[]): string =>
  query.pieces
    .map((piece) =>
      piece.kind === 'scan' ? ` ${must(names[piece.scan], 'a name for each table')}` : plannerText(piece),
    )
    .join('');

/** The same with its parameters in the place of their values; null for a query that has none. */
export function parameterQuery({ pieces }: SplicedQuery): ParameterQuery | null {
  const values = new Map<string, ParameterValue>();
  let location = 0;
  for (const piece of pieces) {
    if (piece.kind === 'value' && !values.has(piece.value.name)) {
      const { name, text } = piece.value;
      values.set(name, { name, text, location });
    }
    location += Buffer.byteLength(plannerText(piece));
  }
  if (values.size === 0) return null;
  const text = (piece: Piece): string => (piece.kind === 'value' ? parameterSql(piece.value) : plannerText(piece));
  return { sql: pieces.map(text).join(''), values: [...values.values()] };
}

/** The query for a worker, which prints each scan itself. */
export function workerSql(query: SplicedQuery): SqlText {
  const parts: (string | { scan: number })[] = [];
  for (const piece of query.pieces) {
    const last = parts.at(-1);
    if (piece.kind === 'scan') parts.push({ scan: piece.scan });
    else if (typeof last === 'string') parts[parts.length - 1] = last + plannerText(piece);
    else parts.push(plannerText(piece));
  }
  return parts;
}

/** The user's character offset for a byte offset in `plannerSql`. */
export function userPosition(query: SplicedQuery, plannerByte: number): number {
  let byte = 0;
  for (const piece of query.pieces) {
    const text = plannerText(piece);
    const length = Buffer.byteLength(text);
    if (plannerByte < byte + length) {
      return piece.kind === 'text' ? piece.start + new ByteOffsets(text).toCharacter(plannerByte - byte) : piece.start;
    }
    byte += length;
  }
  const last = query.pieces.at(-1);
  return last === undefined ? 0 : last.start + (last.kind === 'text' ? last.text.length : 0);
}

/** Prints a piece for the planner. A quoted name may follow a word without a space (`FROM"t"`), a function call may not. */
function plannerText(piece: Piece): string {
  if (piece.kind === 'scan') return ` skein_scan(${quoteLiteral(String(piece.scan))})`;
  return piece.kind === 'value' ? piece.value.text : piece.text;
}

/** `word` is where the keyword TABLE before the name starts. */
function tableEdits(
  sql: string,
  { start, word }: { readonly start: number; readonly word: number | null },
  table: TableReference,
  scan: number,
): Edit[] {
  const end = nameEnd(sql, start, table.parts);
  const next = new Tokenizer(sql, end).next();
  if (table.alias !== null && isWord(sql, next, 'as')) {
    throw new SkeinError('SYNTAX_ERROR', 'the alias of a table is empty', { position: next.start });
  }
  const alias = table.alias === null ? '' : ` AS ${quoteIdentifier(table.alias)}`;
  const { select } = table;
  const source = select === undefined ? [{ scan }] : [`(SELECT ${select} FROM `, { scan }, ')'];
  const edits: Edit[] = [{ start: word ?? start, end, insert: [word === null ? '' : 'FROM ', ...source, alias] }];
  if (table.at !== null) edits.push({ ...atClause(sql, end), insert: [''] });
  return edits;
}

/**
 * Finds `TABLE t`, which means `SELECT * FROM t`, so the word is replaced along with the name. Maps the start of the name to the start of
 * the word.
 */
function tableKeywords(sql: string): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  if (!/\btable\b/i.test(sql)) return found;
  const tokens = new Tokenizer(sql);
  let previous: Token | null = null;
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    const isTable = previous !== null && isWord(sql, previous, 'table');
    if (isTable && isName(token)) found.set(token.start, previous?.start ?? token.start);
    previous = token;
  }
  return found;
}

/** Returns the end of a dotted name. Each part is compared with the parser's: with a wrong place, DuckDB would resolve the name itself. */
function nameEnd(sql: string, start: number, parts: readonly string[]): number {
  const tokens = new Tokenizer(sql, start);
  let end = start;
  for (const [i, part] of parts.entries()) {
    if (i > 0 && !isSymbol(sql, tokens.next(), '.')) throw unreadable('a name', start);
    const token = tokens.next();
    if (!isName(token) || identifierText(sql, token) !== part) throw unreadable('a name', start);
    end = token.end;
  }
  return end;
}

/** Leaves columns out of a star. @throws NOT_SUPPORTED for `* EXCLUDE name`, which takes no second name */
function starEdit(sql: string, location: number, excluded: string): Edit {
  const tokens = new Tokenizer(sql, location);
  let token = tokens.next();
  if (isWord(sql, token, 'from')) {
    return { start: token.start, end: token.start, insert: [`SELECT * EXCLUDE (${excluded}) `] };
  }
  while (isName(token) || isSymbol(sql, token, '.')) token = tokens.next();
  if (!isSymbol(sql, token, '*')) throw unreadable('*', location);
  const { end } = token;
  if (!isWord(sql, tokens.next(), 'exclude')) return { start: end, end, insert: [` EXCLUDE (${excluded})`] };
  const bracket = tokens.next();
  if (!isSymbol(sql, bracket, '(')) {
    throw new SkeinError('NOT_SUPPORTED', 'write EXCLUDE (...), with brackets, where an address column is read', {
      position: location,
    });
  }
  return { start: bracket.end, end: bracket.end, insert: [`${excluded}, `] };
}

/** The clause `AT (...)` after a name and its alias. */
function atClause(sql: string, from: number): { start: number; end: number } {
  const tokens = new Tokenizer(sql, from);
  let depth = 0;
  let at: Token | null = null;
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    if (isSymbol(sql, token, '(')) depth += 1;
    else if (isSymbol(sql, token, ')')) {
      depth -= 1;
      if (depth === 0 && at !== null) return { start: at.start, end: token.end };
    } else if (depth === 0 && isWord(sql, token, 'at')) {
      at = token;
    }
  }
  throw unreadable('AT', from);
}

const unreadable = (what: string, position: number): SkeinError =>
  new SkeinError('NOT_SUPPORTED', `${what} stands where it cannot be read`, { position });

function toPieces(sql: string, edits: readonly Edit[]): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  const sorted = edits.toSorted((a, b) => a.start - b.start);
  for (const [i, edit] of sorted.entries()) {
    // The value stands within a clause that is replaced, such as AT, or has a name in it, which must not stay.
    if (edit.isValue === true && (edit.start < at || (sorted[i + 1]?.start ?? Infinity) < edit.end)) continue;
    if (edit.start > at) pieces.push({ kind: 'text', text: sql.slice(at, edit.start), start: at });
    for (const part of edit.insert) {
      if (typeof part !== 'string' && 'value' in part) {
        pieces.push({ kind: 'value', value: part.value, start: edit.start });
      } else if (typeof part !== 'string') pieces.push({ kind: 'scan', scan: part.scan, start: edit.start });
      else if (part !== '') pieces.push({ kind: 'inserted', text: part, start: edit.start });
    }
    at = edit.end;
  }
  if (at < sql.length) pieces.push({ kind: 'text', text: sql.slice(at), start: at });
  return pieces;
}

const isName = (token: Token): boolean => token.kind === 'word' || token.kind === 'quoted' || token.kind === 'string';
const isWord = (sql: string, token: Token, word: string): boolean =>
  token.kind === 'word' && foldIdentifier(sql.slice(token.start, token.end)) === word;
const isSymbol = (sql: string, token: Token, symbol: string): boolean =>
  token.kind === 'symbol' && sql.slice(token.start, token.end) === symbol;
