import { quoteLiteral } from '#shared/sql/quote.ts';
import { readArray } from '../../../arrival/postgres/read-text.ts';
import { BadValue } from '../../../arrival/postgres/value-kind.ts';
import type { CallText } from './call-text.ts';
import { searchAt, writeSearch } from './json-search.ts';

/** Operators of Postgres that take a part of JSON: a short look at a long text. */
export const JSON_OPERATORS = /[-#@]>|\?/;

const ARROWS: ReadonlySet<string> = new Set(['->', '->>']);
/** Functions of the engine that take the part at a path. */
const PATHS: Readonly<Record<string, string>> = { '#>': 'json_extract', '#>>': 'json_extract_string' };

/** A key that the engine takes for the begin of a path, as that of an object's number in MongoDB: `$oid`. `$.a` and `$[0]` are paths. */
const NO_PATH = /^\$[^.[]/;

/** Functions of the engine whose further arguments may be `x -> expression`. */
const TAKES_LAMBDA = /^(?:(?:LIST|ARRAY)_.*|APPLY|FILTER|REDUCE)$/;

/**
 * Writes the operators that take a part of JSON as Postgres reads them: they bind tighter than comparisons, NOT, AND and IS, which they do not
 * in the engine. Only literals and parameters are written behind them: a name may be that of a lambda.
 * ```
 * WHERE NOT a->'b'->>'c' = 'd' AND e #>> '{f,0}' = 'g'  ->  WHERE NOT ((a->'b')->>'c') = 'd' AND json_extract_string(e , '/f/0') = 'g'
 * ```
 */
export function writeOperators(text: CallText): void {
  if (isAboutPolicy(text)) return;
  /** The first tokens of what was written, by the last ones: the next operator takes a part of that. */
  const written = new Map<number, number>();
  for (let at = 1; at < text.length; at += 1) {
    const search = searchAt(text, at);
    const value = search === '' ? undefined : (written.get(at - 1) ?? text.beginOfValue(at - 1));
    if (value !== undefined) {
      const end = writeSearch(text, { operator: search, from: value, at, first: at + search.length });
      if (end !== undefined) {
        written.set(end, value);
        at = end;
        continue;
      }
    }
    const operator = text.operator(at);
    const last = at + Math.max(operator.length, 1) - 1;
    const path = PATHS[operator];
    if (path !== undefined || ARROWS.has(operator)) {
      const from = written.get(at - 1) ?? text.beginOfValue(at - 1);
      const key = from === undefined || isLambda(text, from) ? undefined : keyAt(text, last + 1);
      const isWritten =
        from !== undefined &&
        key !== undefined &&
        (path === undefined ? writeArrow(text, from, key) : writePath(text, { from, at, last, key, name: path }));
      if (isWritten) {
        written.set(key.last, from);
        at = key.last;
        continue;
      }
    }
    at = last;
  }
}

/** Words among which the kind of an object stands: `CREATE OR REPLACE ROW ACCESS POLICY`. */
const WORDS_OF_KIND = 6;

/** Whether an arrow is the one before the body of a policy: `RETURNS VARCHAR -> '*'`. */
function isAboutPolicy(text: CallText): boolean {
  if (!['CREATE', 'ALTER'].includes(text.word(0))) return false;
  for (let at = 1; at < WORDS_OF_KIND; at += 1) if (text.word(at) === 'POLICY') return true;
  return false;
}

/** A literal or a parameter with its casts; `list`: the strings of ARRAY[...]. */
type Key = {
  readonly first: number;
  readonly last: number;
  readonly kind: 'string' | 'cast string' | 'negative' | 'other';
  readonly list: readonly number[] | null;
};

function keyAt(text: CallText, first: number): Key | undefined {
  const isNegative = text.symbol(first) === '-' && text.isNumber(first + 1);
  const list = text.stringsOfArray(first);
  const value = isNegative ? first + 1 : first;
  const isLiteral = text.isString(value) || text.isNumber(value) || text.isParameter(value);
  if (!isLiteral && list === null) return undefined;
  const end = list === null ? value : (text.closing(first + 1) ?? first);
  const last = text.endOfCasts(end);
  const kind = isNegative ? 'negative' : !text.isString(value) ? 'other' : last === value ? 'string' : 'cast string';
  return { first, last, kind, list };
}

/** Whether it may be the arguments of a lambda: a name, or names in brackets, in a call that takes one. */
function isLambda(text: CallText, from: number): boolean {
  const open = text.bracketAround(from);
  return text.symbol(from - 1) === ',' && open >= 0 && TAKES_LAMBDA.test(text.word(open - 1));
}

function writeArrow(text: CallText, from: number, { first, last, kind }: Key): boolean {
  text.prepend(from, '(');
  if (kind === 'negative') {
    text.prepend(first, ' (');
    text.append(last, ')');
  }
  const key = kind === 'string' ? text.string(first) : '';
  if (NO_PATH.test(key)) text.replace(first, quoteLiteral(pointerOf([key])));
  text.append(last, ')');
  return true;
}

type Path = {
  readonly from: number;
  readonly at: number;
  readonly last: number;
  readonly key: Key;
  readonly name: string;
};

/** @returns false for a path that is not written in the text */
function writePath(text: CallText, { from, at, last, key, name }: Path): boolean {
  const steps = stepsOf(text, key);
  if (steps === undefined) return false;
  text.prepend(from, `${name}(`);
  text.replace(at, ',');
  for (let i = at + 1; i <= last; i += 1) text.replace(i, '');
  text.replace(key.first, quoteLiteral(pointerOf(steps)));
  for (let i = key.first + 1; i <= key.last; i += 1) text.replace(i, '');
  text.append(key.last, ')');
  return true;
}

/** The keys of a path; undefined for NULL and for places from the end of a list, which a pointer has not. */
function stepsOf(text: CallText, { first, kind, list }: Key): readonly string[] | undefined {
  if (list === null && kind !== 'string' && kind !== 'cast string') return undefined;
  const steps = list === null ? readPath(text.string(first)) : list.map(text.string);
  return steps === undefined || steps.some((step) => step === null || /^-\d/.test(step))
    ? undefined
    : (steps as readonly string[]);
}

function readPath(path: string): readonly (string | null)[] | undefined {
  try {
    return readArray(path);
  } catch (error) {
    if (error instanceof BadValue) return undefined;
    throw error;
  }
}

/** A JSON pointer (RFC 6901): a number in it is a place in a list or a key of an object, as in Postgres. */
export const pointerOf = (steps: readonly string[]): string =>
  steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
