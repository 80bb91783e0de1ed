/**
 * The sqllogictest format (sqlite.org/sqllogictest), as far as these files use it:
 *
 *   # a comment
 *   statement ok                    the SQL on the next lines, up to a blank line, must succeed
 *   statement error 42P01           must fail; a cluster with this SQLSTATE (`a|b`: one of them; none: any)
 *   query ITR rowsort               I integer, T text, R number; nosort (default), rowsort or valuesort
 *   SELECT ...
 *   ----
 *   1<TAB>a<TAB>1.5                 one row a line, or one value a line when no line has a tab
 *   skipif duckdb / onlyif skein    for the next record
 *   halt                            the rest of the file is not read
 *
 * One extension: `${repeat('text', n)}` in the SQL stands for that text n times, so that huge statements fit a small file; other
 * `${names}` come from the caller.
 */
type Position = {
  readonly line: number;
  readonly sql: string;
  readonly skip: readonly string[];
  readonly only: string | null;
};
export type SltRecord =
  | (Position & { readonly kind: 'ok' })
  | (Position & { readonly kind: 'error'; readonly sqlStates: readonly string[] })
  | (Position & {
      readonly kind: 'query';
      readonly types: string;
      readonly sort: 'nosort' | 'rowsort' | 'valuesort';
      readonly expected: readonly string[];
    });

const REPEAT = /\$\{repeat\('([^']*)',\s*(\d+)\)\}/g;
const NAME = /\$\{(\w+)\}/g;

/** @throws Error with the line when the text is not in the format, or a `${name}` is not among `names`. */
export function parseSlt(text: string, names: Readonly<Record<string, string>> = {}): readonly SltRecord[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const records: SltRecord[] = [];
  let skip: string[] = [];
  let only: string | null = null;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const [word = '', ...args] = line.trim().split(/\s+/);
    if (word === '' || word.startsWith('#')) continue;
    if (word === 'halt') break;
    if (word === 'skipif') {
      skip.push(args[0] ?? '');
      continue;
    }
    if (word === 'onlyif') {
      only = args[0] ?? '';
      continue;
    }
    const start = at + 1;
    const body: string[] = [];
    while (at + 1 < lines.length && lines[at + 1] !== '') body.push(lines[++at] ?? '');
    const { sql, expected } = splitBody(body, names, start);
    records.push(record(word, args, { line: start, sql, skip, only }, expected));
    skip = [];
    only = null;
  }
  return records;
}

function splitBody(body: readonly string[], names: Readonly<Record<string, string>>, line: number) {
  const rule = body.indexOf('----');
  const sql = (rule === -1 ? body : body.slice(0, rule)).join('\n');
  const expanded = sql
    .replaceAll(REPEAT, (_all, piece: string, count: string) => piece.repeat(Number(count)))
    .replaceAll(NAME, (_all, name: string) => {
      const value = names[name];
      if (value === undefined) throw new Error(`line ${line}: unknown name \${${name}}`);
      return value;
    });
  return { sql: expanded, expected: rule === -1 ? [] : body.slice(rule + 1) };
}

function record(word: string, args: readonly string[], at: Position, expected: readonly string[]): SltRecord {
  if (word === 'statement' && args[0] === 'ok') return { ...at, kind: 'ok' };
  if (word === 'statement' && args[0] === 'error')
    return { ...at, kind: 'error', sqlStates: args[1]?.split('|') ?? [] };
  const [types = '', sort = 'nosort'] = args;
  if (word === 'query' && /^[ITR]+$/.test(types) && (sort === 'nosort' || sort === 'rowsort' || sort === 'valuesort')) {
    return { ...at, kind: 'query', types, sort, expected: expectedValues(expected, types.length) };
  }
  throw new Error(`line ${at.line}: expected statement or query, got: ${word} ${args.join(' ')}`);
}

/** Expected values in row order, one array whatever the layout. */
const expectedValues = (lines: readonly string[], columns: number): readonly string[] =>
  columns > 1 && lines.some((line) => line.includes('\t')) ? lines.flatMap((line) => line.split('\t')) : lines;
