import { Tokenizer } from '#shared/sql/tokenizer.ts';
import type { Random } from '../random.ts';

export type Mutated = {
  readonly sql: string;
  readonly junk: string;
  /** Whether the junk is a comment, which changes nothing. */
  readonly isComment: boolean;
  readonly isAtEnd: boolean;
};

/** Whole comments, which may stand between any two tokens. */
const COMMENTS = [' /* junk */ ', ' -- junk\n', " /* ' -- ( */ ", ' -- /* \' "\n', ' /* a /* b */ ) */ '];

/** Texts that are put between two tokens, or in the place of one. */
const JUNK = `
  junk|junk junk|AS x|x|*|t.*|COLUMNS(*)|*COLUMNS(*)|, *|, 1|, junk|,
  (|)|[|]|{|}|()|) OR (true|), (1|5|'x'|= 1|OR true|NULL|?|;|; SELECT 1|--|/*|'|"|$$|.|..|::|:=
  LIMIT 1|ORDER BY 1|WHERE true|UNION SELECT 1|RETURNING *|USING SAMPLE 1|GROUP BY ALL|WITH (dry_run = true)
  DRY RUN|unnest([1, 2])|DEFAULT|FROM t
`
  .trim()
  .split(/\||\n */);

/** Junk that no statement of our own grammar may end in; some of them end in a query or a condition. */
export const NEVER_AT_END: ReadonlySet<string> = new Set([
  'junk junk',
  '*',
  ')',
  ']',
  '}',
  '(',
  ', *',
  '; SELECT 1',
  'DRY RUN',
  '/*',
  "'",
  '"',
]);

const OPERATOR = /^[-+*/%|&^<>=!~:.]+$/;

/** Puts junk into a statement: between two tokens, behind the last one, or in the place of one. */
export function mutateStatement(sql: string, random: Random): Mutated {
  const places = placesIn(sql);
  const isComment = random.chance(0.2);
  const junk = random.pick(isComment ? COMMENTS : JUNK);
  const isAtEnd = random.chance(0.2);
  const { start, end } = isAtEnd ? { start: sql.length, end: sql.length } : random.pick(places);
  const replaces = !isComment && !isAtEnd && random.chance(0.25);
  const text = `${sql.slice(0, start)} ${junk} ${sql.slice(replaces ? end : start)}`;
  return { sql: text, junk, isComment, isAtEnd };
}

/** The tokens of a statement; the characters of an operator are one, and the parts of a stage's path. */
function placesIn(sql: string): readonly { readonly start: number; readonly end: number }[] {
  const tokens = new Tokenizer(sql);
  const places: { start: number; end: number }[] = [];
  let isPath = false;
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    const { start, end } = token;
    const last = places.at(-1);
    isPath = sql[start] === '@' || (isPath && last?.end === start);
    const isOperator = last?.end === start && OPERATOR.test(sql.slice(last.start, end));
    if (last !== undefined && (isOperator || (isPath && sql[start] !== '@'))) last.end = end;
    else places.push({ start, end });
  }
  return places;
}
