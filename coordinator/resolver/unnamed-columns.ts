import type { Json, JsonObject } from '#shared/json.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { must } from '#shared/must.ts';
import { textOf } from '../plan/json-node.ts';
import { Tokenizer, type Token } from '#shared/sql/tokenizer.ts';
import { ByteOffsets } from './byte-offsets.ts';

/** An expression of a SELECT list, in characters of the text. */
export type ItemSpan = { readonly start: number; readonly end: number };

/**
 * Finds the expressions of SELECT lists that have no alias, and hold a name that is replaced before DuckDB binds the text: without an alias
 * their columns would be called by the text that DuckDB gets, not by the one that was written.
 *
 *     SELECT a, (SELECT max(b) FROM s.t), s.t.c + 1 FROM s.t
 *               ^^^^^^^^^^^^^^^^^^^^^^^^  ^^^^^^^^^
 *
 * Where the text cannot be matched with the tree there is none. `tree` is the syntax tree of `sql`.
 */
export function unnamedColumns(tree: Json, sql: string): readonly ItemSpan[] {
  const unnamed = unnamedItems(tree);
  if (unnamed.length === 0) return [];
  const offsets = new ByteOffsets(sql);
  const lists = selectItems(sql);
  const found = new Map<number, ItemSpan>();
  for (const { inside, depth } of unnamed) {
    const at = offsets.toCharacter(inside);
    // Spans hold one another or have nothing in common, so those around a place are in their order from the outermost.
    const span = lists.filter(({ start, end }) => start <= at && at < end)[depth];
    if (span !== undefined) found.set(span.start, span);
  }
  return [...found.values()].toSorted((a, b) => a.start - b.start);
}

/** Whether two syntax trees are the same but for places in their texts, and aliases that only the second has. */
export function isSameButNamed(tree: Json | undefined, named: Json | undefined): boolean {
  if (typeof tree !== 'object' || tree === null) return tree === named;
  if (typeof named !== 'object' || named === null) return false;
  if (Array.isArray(tree)) {
    const [items, others] = [tree as readonly Json[], named as readonly Json[]];
    return items.length === others.length && items.every((item, i) => isSameButNamed(item, others[i]));
  }
  const [node, other] = [tree as JsonObject, named as JsonObject];
  return Object.entries(node).every(
    ([key, value]) =>
      key === 'query_location' || (key === 'alias' && value === '') || isSameButNamed(value, other[key]),
  );
}

/** A place within the expression, in bytes, and how many other items of SELECT lists are around the expression. */
type UnnamedItem = { readonly inside: number; readonly depth: number };
/** An item of a SELECT list while its tree is walked. */
type OpenItem = { isNamed: boolean; inside: number | undefined };

function unnamedItems(tree: Json): readonly UnnamedItem[] {
  const found: UnnamedItem[] = [];
  const open: OpenItem[] = [];
  /** `own` is the item of which the value is a part, but of no query within it. */
  const walk = (value: Json | undefined, own: OpenItem | undefined): void => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const one of value as readonly Json[]) walk(one, own);
      return;
    }
    const node = value as JsonObject;
    if (node['is_null'] !== undefined) return;
    // One star may be many columns, which an alias would give one name.
    if (own !== undefined && node['class'] === 'STAR') own.isNamed = true;
    const location = replacedAt(node);
    if (location !== undefined) for (const item of open) item.inside ??= location;
    for (const [key, member] of Object.entries(node)) {
      if (key === 'select_list' && node['type'] === 'SELECT_NODE') (member as readonly JsonObject[]).forEach(list);
      else walk(member, key === 'subquery' ? undefined : own);
    }
  };
  const list = (expression: JsonObject): void => {
    const item: OpenItem = {
      isNamed: expression['alias'] !== '' || expression['class'] === 'COLUMN_REF' || mayUnnestStruct(expression),
      inside: undefined,
    };
    open.push(item);
    walk(expression, item);
    open.pop();
    if (!item.isNamed && item.inside !== undefined) found.push({ inside: item.inside, depth: open.length });
  };
  walk(tree, undefined);
  return found;
}

/** Functions that give a list. */
const LISTS: ReadonlySet<string> = new Set(['list_value', 'generate_series', 'range']);

/**
 * Whether an item is a call of UNNEST that may have a column for each field of a struct. Within an expression it has one, and over a subquery,
 * as DuckDB takes no struct from one.
 */
function mayUnnestStruct(expression: JsonObject): boolean {
  if (expression['function_name'] !== 'unnest') return false;
  const [list, ...options] = expression['children'] as readonly JsonObject[];
  const isList = list?.['class'] === 'SUBQUERY' || LISTS.has(textOf(list?.['function_name']));
  return options.length > 0 || !isList;
}

/** Where the name of a table or of a column with its schema stands, which is replaced; undefined for any other node. */
function replacedAt(node: JsonObject): number | undefined {
  const isTable = node['type'] === 'BASE_TABLE';
  const isColumn = node['class'] === 'COLUMN_REF' && (node['column_names'] as readonly Json[]).length > 2;
  const location = node['query_location'];
  return (isTable || isColumn) && typeof location === 'number' ? location : undefined;
}

/** Words that end a SELECT list. DuckDB reserves them. */
const LIST_ENDS: ReadonlySet<string> = new Set(
  'except from group having intersect limit offset order qualify union using where window'.split(' '),
);
/** Words behind which one of those is a part of an expression: `IS DISTINCT FROM`, `WITHIN GROUP`, `AS from`. */
const GOES_ON: Readonly<Record<string, string>> = { from: 'distinct', group: 'within' };

/** A SELECT list that has been opened: `depth` is that of the brackets around it, `start` is null before the first token of an item. */
type OpenList = { readonly depth: number; start: number | null; end: number; readonly skipUntil: number };

/** The items of all SELECT lists of a text, an outer one before those within it. */
function selectItems(sql: string): readonly ItemSpan[] {
  const spans: ItemSpan[] = [];
  const lists: OpenList[] = [];
  const tokens = new Tokenizer(sql);
  let depth = 0;
  let before = '';
  const close = (): void => {
    const { start, end } = must(lists.pop(), 'a list');
    if (start !== null) spans.push({ start, end });
  };
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    const text = token.kind === 'word' || token.kind === 'symbol' ? wordOf(sql, token) : '';
    if (isOpening(text)) depth += 1;
    const list = lists.at(-1);
    const isOwn = list?.depth === depth && before !== '.' && before !== 'as';
    if (text === 'select' && before !== '.' && before !== 'as') {
      if (isOwn) close();
      const start = listStart(sql, token.end);
      lists.push({ depth, start: null, end: 0, skipUntil: start });
    } else if (list !== undefined && token.start >= list.skipUntil) {
      if (isClosing(text) && list.depth === depth) close();
      else if (isOwn && text === ',') {
        if (list.start !== null) spans.push({ start: list.start, end: list.end });
        list.start = null;
      } else if (isOwn && LIST_ENDS.has(text) && GOES_ON[text] !== before) close();
      else {
        list.start ??= token.start;
        list.end = token.end;
      }
    }
    if (isClosing(text)) {
      depth -= 1;
      const outer = lists.at(-1);
      if (outer?.start != null) outer.end = token.end;
    }
    before = text;
  }
  while (lists.length > 0) close();
  return spans.toSorted((a, b) => a.start - b.start || b.end - a.end);
}

const isOpening = (text: string): boolean => text === '(' || text === '[' || text === '{';
const isClosing = (text: string): boolean => text === ')' || text === ']' || text === '}';
const wordOf = (sql: string, { start, end }: Token): string => foldIdentifier(sql.slice(start, end));

/** Where the first item begins behind SELECT: DISTINCT, DISTINCT ON (...) and ALL are no part of it. */
function listStart(sql: string, from: number): number {
  const tokens = new Tokenizer(sql, from);
  const first = tokens.next();
  if (first.kind !== 'word') return first.start;
  const word = wordOf(sql, first);
  if (word === 'all') return first.end;
  if (word !== 'distinct') return first.start;
  const on = tokens.next();
  if (on.kind !== 'word' || wordOf(sql, on) !== 'on') return first.end;
  let depth = 0;
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    const text = token.kind === 'symbol' ? sql.slice(token.start, token.end) : '';
    if (isOpening(text)) depth += 1;
    if (isClosing(text)) depth -= 1;
    if (depth === 0) return token.end;
  }
  return on.end;
}
