/**
 * The sqllogictest format (sqlite.org/sqllogictest), as far as these files use it:
 *
 *   # a comment
 *   statement ok                    the SQL on the next lines, up to a blank line, must succeed
 *   statement error 42P01           must fail; a cluster with this SQLSTATE
 *   query ITR rowsort               I integer, T text, R number; nosort (default), rowsort or valuesort
 *   SELECT ...
 *   ----
 *   1<TAB>a<TAB>1.5                 one row a line, or one value a line when no line has a tab
 *   <REGEX>:rows=\d+                a value that matches as a whole, as in DuckDB's files
 *   skipif duckdb / onlyif skein    for the next record
 *   halt                            the rest of the file is not read
 *
 *   file ns.stage/a.csv             the next lines, up to a blank line, become a file of a stage (clusters only)
 *
 * Two more extensions: `${repeat('text', n)}` in the SQL stands for that text n times, so that huge statements fit a small file; other
 * `${names}` come from the caller. A query with `colnames` at the end of its line has the names of its columns as the first row of what it
 * expects, as in CockroachDB's files.
 */
type Position = {
  readonly line: number;
  readonly sql: string;
  readonly skip: readonly string[];
  readonly only: string | null;
};
export type SltRecord =
  | (Position & { readonly kind: 'ok' })
  | (Position & { readonly kind: 'error'; readonly sqlState: string })
  /** `sql` is the file's text. */
  | (Position & { readonly kind: 'file'; readonly stage: string; readonly path: string })
  | (Position & {
      readonly kind: 'query';
      readonly types: string;
      readonly sort: 'nosort' | 'rowsort' | 'valuesort';
      /** Null: any names. */
      readonly columns: readonly string[] | null;
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
  if (word === 'statement' && args[0] === 'error' && /^[0-9A-Z]{5}$/.test(args[1] ?? '')) {
    return { ...at, kind: 'error', sqlState: args[1] ?? '' };
  }
  const slash = args[0]?.indexOf('/') ?? -1;
  if (word === 'file' && slash > 0) {
    const [place = ''] = args;
    return { ...at, kind: 'file', stage: place.slice(0, slash), path: place.slice(slash + 1) };
  }
  const named = args.at(-1) === 'colnames';
  const [types = '', sort = 'nosort', ...more] = named ? args.slice(0, -1) : args;
  const isSort = sort === 'nosort' || sort === 'rowsort' || sort === 'valuesort';
  if (word === 'query' && /^[ITR]+$/.test(types) && isSort && more.length === 0) {
    const values = expectedValues(expected, types.length);
    const width = named ? types.length : 0;
    const columns = named ? values.slice(0, width) : null;
    return { ...at, kind: 'query', types, sort, columns, expected: values.slice(width) };
  }
  throw new Error(`line ${at.line}: expected statement or query, got: ${word} ${args.join(' ')}`);
}

/** Expected values in row order, one array whatever the layout. */
const expectedValues = (lines: readonly string[], columns: number): readonly string[] =>
  columns > 1 && lines.some((line) => line.includes('\t')) ? lines.flatMap((line) => line.split('\t')) : lines;
