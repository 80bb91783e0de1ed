/**
 * Names that two programs may compare or delimit differently: letters that JavaScript folds and DuckDB does not, combining and invisible
 * characters, quotes, comments and keywords, DuckDB's own views.
 */
const LETTERS = [
  'k',
  '\u212a',
  's',
  '\u017f',
  'i',
  '\u0130',
  '\u0131',
  '\u00e4',
  '\u00df',
  '\u03c2',
  '\u00e9',
  'e\u0301',
  '\ufb01',
  '\u{1f986}',
] as const;
const INVISIBLE = [
  'a\u200cb',
  'a\u200db',
  'x\u2028y',
  'x\u1680',
  '\ufeffbom',
  'nb\u00a0sp',
  'zero\u200bspace',
] as const;
const QUOTES = ['we"ird', "o'k", 'with space', 'x/*y', 'x--y', 'semi;colon', 'a$b', '1st', '\u00a0'] as const;
const KEYWORDS = ['select', 'table', 'at', 'lateral', 'recursive', 'values'] as const;
/** Views of DuckDB's own, which no statement may read. */
export const INTERNAL = ['duckdb_databases', 'sqlite_master'] as const;

/** Names of tables, common tables and aliases. */
export const NAMES: readonly string[] = [
  ...LETTERS,
  ...INVISIBLE,
  ...QUOTES,
  ...KEYWORDS,
  'duc\u212adb_databases',
  ...INTERNAL,
];
/** The first of each list is the session's current one. */
export const SCHEMAS = ['s', '\u017f', 'a.b', 'select', 'main'] as const;
export const CATALOGS = ['lake', 'la\u212ae', 'l\u00e4ke'] as const;

const RESERVED = new Set<string>(['select', 'table', 'at', 'lateral', 'values']);
const PLAIN = /^[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*$/;
const WIDE_SPACE = /[\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]/;

/** Spellings of a name. A string literal is a table's name or an alias only where it stands alone. */
export const STYLES = ['plain', 'quoted', 'string', 'escaped', 'dollar', 'continued'] as const;
export type Style = (typeof STYLES)[number];
export type Spelling = { readonly style: Style; readonly letters: number };

/** Spells a name; the bits of `letters` choose the letters whose case changes. */
export function spell(name: string, { style, letters }: Spelling, mayBeString: boolean): string {
  const text = changeCase(name, letters);
  if (style === 'plain' && PLAIN.test(text) && !WIDE_SPACE.test(text) && !RESERVED.has(text.toLowerCase())) return text;
  if (!mayBeString || style === 'plain' || style === 'quoted') return `"${text.replaceAll('"', '""')}"`;
  const doubled = text.replaceAll("'", "''");
  if (style === 'dollar') return `$q$${text}$q$`;
  if (style === 'escaped') return `E'${doubled.replaceAll(/[a-m]/g, (c) => `\\x${c.charCodeAt(0).toString(16)}`)}'`;
  if (style === 'continued') return `'${doubled}' -- it's\n''`;
  return `'${doubled}'`;
}

/** Changes the case, sometimes by JavaScript's rules, else of A to Z only, which keeps the name the same. */
function changeCase(name: string, letters: number): string {
  if (letters % 11 === 1) return name.toUpperCase();
  if (letters % 11 === 2) return name.toLowerCase();
  return name.replaceAll(/[A-Za-z]/g, (c, at: number) =>
    (letters >> (at % 16)) & 1 ? c.toUpperCase() : c.toLowerCase(),
  );
}
