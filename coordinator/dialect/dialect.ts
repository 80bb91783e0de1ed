import type { ErrorCode } from '#shared/error.ts';
import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { DialectName } from '../binding/planner.ts';

/** How a function of another engine is written here. `concat` becomes `||`: DuckDB's own `concat` leaves NULLs out. */
export type Spelling = { readonly kind: 'name'; readonly name: string } | { readonly kind: 'concat' | 'substring' };

/** A dialect whose queries are translated when they mean the same here. */
export type Dialect = {
  readonly name: DialectName;
  /** Character around names. */
  readonly quote: '`' | '"';
  /**
   * Grammars of node-sql-parser, one of which must accept a query. That of Trino lacks `EXISTS (SELECT ...)`, which Postgres writes alike; it
   * has none for Spark: these have its quotes and its clauses.
   */
  readonly grammars: readonly Grammar[];
  /** By their names in lower case; none has another meaning here for the types that `check-meaning.ts` lets through. */
  readonly functions: ReadonlyMap<string, Spelling>;
  /** Where NULLs are sorted when a query does not say. */
  readonly nulls: { readonly ascending: 'FIRST' | 'LAST'; readonly descending: 'FIRST' | 'LAST' };
  /** In Spark `||` binds as tightly as `+`, and its strings have backslashes and concatenate. */
  readonly isSpark: boolean;
};
export type Grammar = 'trino' | 'postgresql' | 'bigquery' | 'mysql';

const named = (...names: readonly string[]): readonly (readonly [string, Spelling])[] =>
  names.map((pair) => {
    const [name = '', spelled = name] = pair.split('=');
    return [name, { kind: 'name', name: spelled }];
  });
const COMMON = [
  ...named('count', 'sum', 'min', 'max', 'avg', 'row_number', 'rank', 'dense_rank'),
  ...named('coalesce', 'nullif', 'abs', 'length', 'year', 'month', 'day'),
  ['concat', { kind: 'concat' }],
  ['substring', { kind: 'substring' }],
  ['substr', { kind: 'substring' }],
] as const;

const DIALECTS: readonly Dialect[] = [
  {
    name: 'trino',
    quote: '"',
    grammars: ['trino', 'postgresql'],
    functions: new Map<string, Spelling>([...COMMON, ...named('starts_with')]),
    nulls: { ascending: 'LAST', descending: 'LAST' },
    isSpark: false,
  },
  {
    name: 'spark',
    quote: '`',
    grammars: ['bigquery', 'mysql'],
    functions: new Map<string, Spelling>([
      ...COMMON,
      ...named('char_length=length', 'character_length=length', 'startswith=starts_with', 'nvl=coalesce'),
      ...named('ifnull=coalesce'),
    ]),
    nulls: { ascending: 'FIRST', descending: 'LAST' },
    isSpark: true,
  },
];

export const dialectOf = (name: string): Dialect | undefined =>
  DIALECTS.find((dialect) => dialect.name === foldIdentifier(name));

/** The error for a query that is not translated; `at` is a place in it. */
export function untranslated(
  dialect: Pick<Dialect, 'name'>,
  reason: string,
  at?: { readonly sql: string; readonly position: number },
  code: ErrorCode = 'NOT_SUPPORTED',
): SkeinError {
  const place = at === undefined ? '' : ` at ${placeOf(at.sql, at.position)}`;
  return new SkeinError(code, `its query is written in ${dialect.name}, and this is not read here: ${reason}${place}`);
}

function placeOf(sql: string, position: number): string {
  const before = sql.slice(0, position).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1} of the view's text`;
}
