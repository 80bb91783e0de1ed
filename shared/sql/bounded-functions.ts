import { randomUUID } from 'node:crypto';

/**
 * Functions whose cost is unbounded, that crash on some arguments, or that the optimizer mistakes, each with a macro of the same name in its place. A worker makes
 * only the macros that a statement calls, so a statement without such calls runs unchanged. A macro is expanded when a statement is bound,
 * so constant arguments are still folded. It repeats its arguments, so it is for functions whose calls are not nested in each other.
 *
 * Found by `test/attack/function-quanta.full.test.ts`, which calls every function with large arguments that are made at run time.
 */

/** Maximum cells of the table that an edit distance fills: texts of about 360 characters each. A cell takes some nanoseconds. */
const DISTANCE_CELLS_MAX = 131_072;
/** Maximum elements of two lists that are compared. */
const LIST_ELEMENTS_MAX = 200_000;
/** Maximum keys of a map that is made of two lists: each takes more than a microsecond. */
const MAP_KEYS_MAX = 1_000_000;
/** Maximum levels of a JSON value, which its functions walk recursively: at ten thousand a thread's stack overflows. */
export const JSON_DEPTH_MAX = 1_000;
/** Number of levels up to which any number of brackets is allowed. */
const JSON_ROUNDS = 16;
/** Maximum elements of a series of timestamps. */
const SERIES_MAX = 1_000_000;
/** Maximum characters that a text is padded to. */
const PAD_MAX = 1_000_000;
/** Maximum bytes of a text that is split by a regular expression. */
const SPLIT_BYTES_MAX = 65_536;
/** Maximum bytes of a text that is matched with a repeating regular expression: `{0,900}` has nine hundred states. */
const REPEATED_BYTES_MAX = 65_536;
/** Maximum of the text's bytes times the pattern's bytes, for a pattern with several wildcards. */
const PATTERN_WORK_MAX = 1_000_000;
/** Up to this length of text and this number of wildcards, DuckDB's own backtracking matcher is fast. */
const SHORT_TEXT_BYTES = 128;
const FEW_WILDCARDS = 3;
const ZONE_BYTES_MAX = 64;

/** A text that no statement can hold, because every thread has another one. */
const SECRET = randomUUID();
/** Start of the text whose cast to INTEGER refuses a call. */
export const REFUSAL = `${SECRET} refuses: `;
/** Start of the message of an error that the statement itself raises, with `error(message)`. */
export const RAISED = `${SECRET} raises: `;

/**
 * The bodies of a function's macro by the number of its arguments, which are `a`, `b`, `c`, ... A macro hides the function whole, so it has a
 * body for each number of arguments that the function takes.
 */
type Bodies = Readonly<Record<number, string>>;
type Family = Readonly<Record<string, Bodies>>;

/** Arguments of a bounded function that takes any number of them; a call with more is refused (`hasTooManyArguments`). */
export const ARGUMENTS_MAX = 8;
const PARAMETERS = Array.from({ length: ARGUMENTS_MAX }, (_, i) => String.fromCodePoint(97 + i));
const parametersOf = (count: number): string => PARAMETERS.slice(0, count).join(', ');

const own = (name: string, count: number): string => `system.main."${name}"(${parametersOf(count)})`;
/**
 * Returns an expression that fails with a message, as `error(message)` does, but may stand in TRY, which takes no volatile function. It is
 * a failing cast; the arguments in it do not affect the result, but keep DuckDB from folding it before the statement runs.
 * `shared/duckdb-error.ts` extracts the message from DuckDB's. Its type is that of NULL.
 */
function failure(message: string, count: number): string {
  const nulls = PARAMETERS.slice(0, count).map((name) => `, nullif(${name} IS NULL, ${name} IS NULL)`);
  return `CASE WHEN CAST(concat('${REFUSAL}${message}'${nulls.join('')}) AS INTEGER) = 0 THEN NULL END`;
}
/** Calls the function itself, or fails when `condition` holds. */
const guarded = (name: string, count: number, condition: string, message: string): string =>
  `CASE WHEN ${condition} THEN ${failure(message, count)} ELSE ${own(name, count)} END`;
/** As `guarded`, for a function whose last argument must be constant: DuckDB takes a macro's parameter for one only within an expression. */
const guardedWithOptions = (name: string, count: number, condition: string, message: string): string => {
  const last = PARAMETERS[count - 1] ?? '';
  const call = `system.main."${name}"(${[...PARAMETERS.slice(0, count - 1), `'' || ${last}`].join(', ')})`;
  return `CASE WHEN ${condition} THEN ${failure(message, count)} ELSE ${call} END`;
};
const each = (names: string, bodies: (name: string) => Bodies): Family =>
  Object.fromEntries(names.split(' ').map((name) => [name, bodies(name)]));

/** Builds macros that refuse a call with `message` when `condition` holds, for each function and argument count. */
const refused = (names: string, counts: readonly number[], condition: string, message: string): Family =>
  each(names, (name) => Object.fromEntries(counts.map((count) => [count, guarded(name, count, condition, message)])));

/**
 * Returns a condition that holds for a JSON text with very many nested brackets. It removes the strings, then repeatedly the innermost
 * pairs of brackets: of usual documents nothing remains, of a deeply nested one nearly everything.
 */
const isDeep = (json: string): string => {
  const text = `CAST(${json} AS VARCHAR)`;
  const brackets = `regexp_replace(regexp_replace(${text}, '"([^"\\\\]|\\\\.)*"', '', 'g'), '[^\\[\\]{}]', '', 'g')`;
  let rest = `translate(${brackets}, '{}', '[]')`;
  for (let round = 0; round < JSON_ROUNDS; round++) rest = `replace(${rest}, '[]', '')`;
  const opening = `strlen(${text}) - strlen(replace(replace(${text}, '[', ''), '{', ''))`;
  return `CASE WHEN ${opening} <= ${JSON_DEPTH_MAX} THEN false ELSE strlen(${rest}) > ${JSON_DEPTH_MAX} END`;
};
const DEEP = `JSON of more than ${JSON_DEPTH_MAX} levels is not looked into`;

const SERIES = `a series of timestamps has up to ${SERIES_MAX} elements`;
const seconds = (timestamp: string): string => `epoch(TRY_CAST(CAST(${timestamp} AS VARCHAR) AS TIMESTAMP))`;
/** Whether a series is too long. For a series of whole numbers, which cannot be cast to timestamps, the condition is NULL. */
const isLong =
  `abs(${seconds('b')} - ${seconds('a')}) / greatest(abs(epoch(TRY_CAST(CAST(c AS VARCHAR) AS INTERVAL))), 1e-6)` +
  ` > ${SERIES_MAX}`;
const series = (name: string): Bodies => ({
  1: own(name, 1),
  2: own(name, 2),
  3: guarded(name, 3, isLong, SERIES),
});

/**
 * Bounds a pattern of LIKE. One wildcard, or one at each end, is fast on any text, and a few are fast on a short text. All other patterns
 * are rewritten as a regular expression, whose time grows with the text and not with the number of ways to match it.
 */
function like(name: string): Bodies {
  const quoted = String.raw`regexp_replace(b, '([.\\+*?^$()\[\]{}|])', '\\\1', 'g')`;
  const expression = `replace(replace(${quoted}, '%', '.*'), '_', '.')`;
  const matches = `system.main.regexp_full_match(a, ${expression}, '${name.endsWith('*') ? 'si' : 's'}')`;
  const isShort = `strlen(a) <= ${SHORT_TEXT_BYTES} AND ${wildcards('%')} <= ${FEW_WILDCARDS}`;
  return {
    2:
      `CASE WHEN strlen(b) <= ${SHORT_TEXT_BYTES} AND NOT contains(trim(b, '%'), '%') THEN ${own(name, 2)}` +
      ` WHEN ${isShort} THEN ${own(name, 2)}` +
      ` WHEN strlen(a) * strlen(b) > ${PATTERN_WORK_MAX} THEN ${failure('the text and the pattern of LIKE are too long for each other', 2)}` +
      ` ELSE ${name.startsWith('!') ? 'NOT ' : ''}${matches} END`,
  };
}

const wildcards = (wildcard: string): string => `strlen(b) - strlen(replace(b, '${wildcard}', ''))`;
const isWild = (wildcard: string): string =>
  `strlen(a) > ${SHORT_TEXT_BYTES} AND ${wildcards(wildcard)} > ${FEW_WILDCARDS}`;
const WILD = `a text of more than ${SHORT_TEXT_BYTES} bytes takes up to ${FEW_WILDCARDS} wildcards in such a pattern`;

const isLongToSplit = `strlen(a) > ${SPLIT_BYTES_MAX}`;
const SPLIT = `a text of up to ${SPLIT_BYTES_MAX} bytes is divided by a regular expression`;

/** Argument types for which a function of two arguments is another one, which needs no bound. */
const UNBOUND_TYPES: Readonly<Record<string, string>> = { '&&': 'GEOMETRY' };

/**
 * Keeps the optimizer from looking through a call: it makes of `date_trunc('month', d) <> DATE '2020-01-05'` TRUE where `d` is NULL, and loses
 * infinite values (#24303, #24368). The planner finds the statements with such a comparison (`opaque-truncation.ts`).
 */
const opaque = (name: string): Bodies => ({ 2: `greatest(${own(name, 2)})` });

/** Families of functions: different names of one function, which a plan may replace by each other. */
const FAMILIES = {
  // Patterns with an escape and patterns of GLOB are not rewritten, but refused.
  like: {
    ...each('~~ !~~ ~~* !~~*', like),
    ...refused('~~~', [2], isWild('*'), WILD),
    ...refused('like_escape not_like_escape ilike_escape not_ilike_escape', [3], isWild('%'), WILD),
  },
  distance: refused(
    'levenshtein editdist3 damerau_levenshtein',
    [2],
    `strlen(a) * strlen(b) > ${DISTANCE_CELLS_MAX}`,
    `an edit distance is computed of texts whose lengths multiply to at most ${DISTANCE_CELLS_MAX}`,
  ),
  lists: refused(
    '&& @> <@ list_has_any list_has_all array_has_any array_has_all list_intersect array_intersect',
    [2],
    `len(a) + len(b) > ${LIST_ELEMENTS_MAX}`,
    `two lists are compared up to ${LIST_ELEMENTS_MAX} elements`,
  ),
  map: {
    map: {
      0: own('map', 0),
      2: guarded('map', 2, `len(a) > ${MAP_KEYS_MAX}`, `a map is made of up to ${MAP_KEYS_MAX} keys`),
    },
  },
  json: {
    ...refused('json_structure json_pretty', [1], isDeep('a'), DEEP),
    ...refused('json_contains', [2], `${isDeep('a')} OR ${isDeep('b')}`, DEEP),
    json_merge_patch: Object.fromEntries(
      Array.from({ length: ARGUMENTS_MAX - 1 }, (_, i) => i + 2).map((count) => {
        // One lambda for all of them: the condition is long, and its text takes DuckDB time to parse.
        const texts = PARAMETERS.slice(0, count).map((name) => `CAST(${name} AS VARCHAR)`);
        const isAnyDeep = `len(list_filter([${texts.join(', ')}], lambda deep_text: ${isDeep('deep_text')})) > 0`;
        return [count, guarded('json_merge_patch', count, isAnyDeep, DEEP)];
      }),
    ),
  },
  series: each('generate_series range', series),
  pad: refused('lpad rpad', [3], `b > ${PAD_MAX}`, `a text is padded up to ${PAD_MAX} characters`),
  split: {
    ...each('regexp_split_to_array string_split_regex str_split_regex', (name) => ({
      2: guarded(name, 2, isLongToSplit, SPLIT),
      3: guardedWithOptions(name, 3, isLongToSplit, SPLIT),
    })),
    regexp_extract_all: {
      2: guarded('regexp_extract_all', 2, isLongToSplit, SPLIT),
      3: guarded('regexp_extract_all', 3, isLongToSplit, SPLIT),
      4: guardedWithOptions('regexp_extract_all', 4, isLongToSplit, SPLIT),
    },
  },
  regexp: refused(
    'regexp_matches regexp_full_match',
    [2, 3],
    `strlen(a) > ${REPEATED_BYTES_MAX} AND contains(b, '{')`,
    `a text of more than ${REPEATED_BYTES_MAX} bytes is not matched with a regular expression that counts`,
  ),
  truncation: each('date_trunc datetrunc', opaque),
  // An error of the statement's own is told from all others by its mark (`shared/duckdb-error.ts`).
  raise: { error: { 1: `system.main."error"('${RAISED}' || a)` } },
  zone: {
    timezone: {
      1: own('timezone', 1),
      2: guarded(
        'timezone',
        2,
        `length(CAST(a AS VARCHAR)) > ${ZONE_BYTES_MAX}`,
        'the name of a time zone is not so long',
      ),
    },
  },
} as const satisfies Record<string, Family>;

/** Functions that are bounded together. */
export type BoundedFamily = keyof typeof FAMILIES;

const FAMILY_OF: ReadonlyMap<string, BoundedFamily> = new Map(
  (Object.keys(FAMILIES) as BoundedFamily[]).flatMap((family) =>
    Object.entries<Bodies>(FAMILIES[family]).flatMap(([name, bodies]) =>
      Object.keys(bodies).map((count) => [`${name}/${count}`, family] as const),
    ),
  ),
);

/** Returns the family of a function with this number of arguments; undefined when it needs no bound. */
export const boundedFamily = (name: string, count: number): BoundedFamily | undefined =>
  FAMILY_OF.get(`${name}/${count}`);

/** Returns the SQL that bounds a family, on the connection that runs the statement. */
export const boundSql = (family: BoundedFamily): readonly string[] =>
  Object.entries<Bodies>(FAMILIES[family]).map(([name, bodies]) => {
    const macros = Object.entries(bodies).map(([count, body]) => `(${parametersOf(Number(count))}) AS ${body}`);
    const type = UNBOUND_TYPES[name];
    const unbound = type === undefined ? [] : [`(a ${type}, b ${type}) AS ${own(name, 2)}`];
    return `CREATE OR REPLACE TEMP MACRO "${name}"${[...unbound, ...macros].join(', ')}`;
  });

/** Returns the SQL that removes the bounds of a family. */
export const unboundSql = (family: BoundedFamily): readonly string[] =>
  Object.keys(FAMILIES[family]).map((name) => `DROP MACRO IF EXISTS temp.main."${name}"`);

export const BOUNDED_FAMILIES = Object.keys(FAMILIES) as readonly BoundedFamily[];
