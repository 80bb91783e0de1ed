import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { SkeinError } from '#shared/error.ts';
import { identifierText, Tokenizer, type Token } from '#shared/sql/tokenizer.ts';

/** The place of the cursor in a statement, as far as its words tell: nothing is parsed, because a text that is being written is not SQL yet. */
export type CursorPlace = {
  /** The begin of the name that is written, without the parts before its last dot. */
  readonly prefix: string;
  /** Where `prefix` begins in the text. */
  readonly from: number;
  /** The parts before the last dot: `a.b.` is `['a', 'b']`. */
  readonly qualifier: readonly string[];
  /** A relation is expected, as behind FROM. */
  readonly wantsRelation: boolean;
  /** Relations that the statement names, by the alias or name under which its columns are reached. */
  readonly sources: readonly NamedRelation[];
};

export type NamedRelation = { readonly path: readonly string[]; readonly alias: string };

/** Words behind which a relation stands. */
const BEFORE_RELATION = new Set(['from', 'join', 'into', 'update', 'table', 'describe', 'desc', 'using', 'truncate']);
/** Words that begin another clause, and are no alias. */
const NO_ALIAS = new Set(
  `where group order having limit on using join left right full inner outer cross natural lateral union except intersect set values
  select window qualify offset sample tablesample pivot unpivot returning when as asof positional anti semi`.split(
    /\s+/,
  ),
);

type Word = Token & { readonly text: string };

/** Finds the place of a cursor. A text with a quote that is never closed has none. */
export function cursorPlace(sql: string, position: number): CursorPlace | null {
  const words = wordsOf(sql, position);
  if (words === null) return null;
  const before = words.filter(({ end }) => end <= position);
  const last = before.at(-1);
  const isInName = last !== undefined && last.end === position && (last.kind === 'word' || last.kind === 'quoted');
  const prefix = isInName ? last.text : '';
  const head = isInName ? before.slice(0, -1) : before;
  const { parts, rest } = qualifierOf(head);
  const relations = beforeRelations(words);
  const end = rest.at(-1);
  return {
    prefix,
    from: isInName ? last.start : position,
    qualifier: parts,
    wantsRelation: end !== undefined && relations.has(end),
    sources: sourcesOf(words, relations),
  };
}

/** The tokens of the statement in which the position lies. */
function wordsOf(sql: string, position: number): readonly Word[] | null {
  try {
    let words: Word[] = [];
    const tokens = new Tokenizer(sql);
    for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
      const isString = token.kind === 'string';
      if (isString && token.start < position && position < token.end) return null;
      const text = isString ? '' : identifierText(sql, token);
      if (token.kind === 'symbol' && text === ';') {
        if (token.start >= position) break;
        words = [];
      } else words.push({ ...token, text });
    }
    return words;
  } catch (error) {
    if (SkeinError.of(error).code === 'SYNTAX_ERROR') return null;
    throw error;
  }
}

/** The parts of a name that end with a dot at the end of the words. */
function qualifierOf(words: readonly Word[]): { readonly parts: readonly string[]; readonly rest: readonly Word[] } {
  const parts: string[] = [];
  let at = words.length;
  while (words[at - 1]?.text === '.' && isName(words[at - 2])) {
    parts.push(words[at - 2]?.text ?? '');
    at -= 2;
  }
  return { parts: parts.reverse(), rest: words.slice(0, at) };
}

const isName = (word: Word | undefined): boolean => word?.kind === 'word' || word?.kind === 'quoted';

const keyword = (word: Word | undefined): string =>
  word?.kind === 'word' ? foldIdentifier(word.text) : (word?.text ?? '');

/** Relations of a statement whose columns are proposed: each is looked for in the list of its catalog. */
const SOURCES_MAX = 100;

/** Words that end a list of relations. */
const ENDS_RELATIONS = new Set(['select', 'where', 'by', 'set', 'having', 'values', 'on']);

/** The words behind which a relation stands: FROM and its like, and commas of a FROM clause. One pass, because a text may have 100,000 commas. */
function beforeRelations(words: readonly Word[]): ReadonlySet<Word> {
  const found = new Set<Word>();
  /** Whether the words of each open bracket are those of a FROM clause. */
  const inFrom = [false];
  for (const word of words) {
    const text = keyword(word);
    if (text === '(') inFrom.push(false);
    else if (text === ')' && inFrom.length > 1) inFrom.pop();
    else if (text === 'from') inFrom[inFrom.length - 1] = true;
    else if (ENDS_RELATIONS.has(text)) inFrom[inFrom.length - 1] = false;
    if (BEFORE_RELATION.has(text) || (text === ',' && inFrom.at(-1) === true)) found.add(word);
  }
  return found;
}

function sourcesOf(words: readonly Word[], relations: ReadonlySet<Word>): readonly NamedRelation[] {
  const sources: NamedRelation[] = [];
  for (let at = 0; at < words.length && sources.length < SOURCES_MAX; at += 1) {
    const word = words[at];
    if (word === undefined || !relations.has(word) || !isName(words[at + 1])) continue;
    const path: string[] = [];
    let next = at + 1;
    for (; isName(words[next]); next += 2) {
      path.push(words[next]?.text ?? '');
      if (words[next + 1]?.text !== '.') break;
    }
    const behind = keyword(words[next + 1]) === 'as' ? words[next + 2] : words[next + 1];
    const hasAlias = isName(behind) && !NO_ALIAS.has(keyword(behind));
    sources.push({ path, alias: (hasAlias ? behind?.text : path.at(-1)) ?? '' });
  }
  return sources;
}
