import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { DerivedText } from './derived-text.ts';
import { EditedText } from './edited-text.ts';
import { findStages } from './stage-references.ts';
import type { ValuePlace } from './value-place.ts';
import { printParameter, type Parameters } from './parameters.ts';
import { identifierText, Tokenizer, type Token } from '#shared/sql/tokenizer.ts';

/** Places of parameters that a statement may have; each is kept for as long as the statement runs. */
export const PARAMETER_PLACES_MAX = 50_000;

/** A part of a statement's text, and the value of a parameter that replaces it. */
export type ParameterEdit = {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Number, or name as it is compared. */
  readonly name: string;
  /** Number, or name as it is spelled. */
  readonly spelled: string;
};

/**
 * Finds the parameters of a statement and prints their values. A parameter is a token of its own, so nothing inside of a string, a name
 * or a comment is one, nor is `$1` where the statement reads a stage: it is a column there. `?` takes the value behind the last one that a parameter before it took.
 * ```
 * SELECT $2 WHERE a = ? AND b = '$1'    ->    edits of $2 and of ?
 * ```
 * @param bytesMax how long the text may become, because a short text may name a long value many times
 * @throws UNDEFINED_PARAMETER for one without a value, with its position; WRONG_PARAMETER_COUNT for a value without a parameter;
 * INVALID_REQUEST for a value that is none; PAYLOAD_TOO_LARGE; STATEMENT_TOO_COMPLEX for too many places
 */
export function bindParameters(sql: string, parameters: Parameters, bytesMax: number): readonly ParameterEdit[] {
  const values = valueOf(parameters);
  const used = new Set<string>();
  const edits: ParameterEdit[] = [];
  let bytes = Buffer.byteLength(sql);
  for (const { start, end, name, number } of findParameters(sql)) {
    const key = number === null ? foldIdentifier(name) : String(number);
    const text = values(key);
    if (text === undefined) {
      throw new SkeinError('UNDEFINED_PARAMETER', `there is no value for the parameter $${key.slice(0, 100)}`, {
        position: start,
      });
    }
    used.add(key);
    const edit = { start, end, text: ` ${text} `, name: key, spelled: number === null ? name : key };
    bytes += Buffer.byteLength(edit.text) - (end - start);
    if (bytes > bytesMax) {
      throw new SkeinError('PAYLOAD_TOO_LARGE', `the statement and its values are longer than ${bytesMax} bytes`);
    }
    if (edits.push(edit) > PARAMETER_PLACES_MAX) {
      throw new SkeinError(
        'STATEMENT_TOO_COMPLEX',
        `the statement has more than ${PARAMETER_PLACES_MAX} places for parameters`,
      );
    }
  }
  const given = parameters.kind === 'unknown' ? [] : parameterNames(parameters);
  const unused = given.find((key) => !used.has(key));
  if (unused !== undefined) {
    throw new SkeinError(
      'WRONG_PARAMETER_COUNT',
      `the statement has no parameter $${unused.slice(0, 100)}; it was given ${given.length} values and has ${used.size} parameters`,
    );
  }
  return edits;
}

/** Puts the edits into the text; they stand in its order. */
export function applyEdits(sql: string, edits: readonly ParameterEdit[]): DerivedText {
  const derived = new EditedText(sql);
  let at = 0;
  for (const { start, end, text } of edits) {
    derived.slice(at, start, NOTHING).insert(text);
    at = end;
  }
  return derived.slice(at, sql.length, NOTHING);
}

/** The places of the values in the text that `applyEdits` makes. */
export function valuePlaces(edits: readonly ParameterEdit[]): readonly ValuePlace[] {
  let shift = 0;
  return edits.map(({ start, end, text, name, spelled }) => {
    // Without the spaces around it, which may have been cut off at the end of the statement.
    const place = {
      start: start + shift + 1,
      end: start + shift + text.length - 1,
      name,
      spelled,
      text: text.slice(1, -1),
    };
    shift += text.length - (end - start);
    return place;
  });
}

const NOTHING: ReadonlyMap<number, string> = new Map();

/** The value of each parameter, as SQL; undefined for one without. */
function valueOf(parameters: Parameters): (key: string) => string | undefined {
  if (parameters.kind === 'unknown') {
    const { literal } = parameters;
    if (literal !== undefined) return () => literal;
    return (key) => {
      const type = parameters.types[Number(key) - 1] ?? '';
      return printParameter({ type: type === '' ? null : type, value: null });
    };
  }
  const values = valuesByName(parameters);
  return (key) => values.get(key);
}

function parameterNames(parameters: GivenParameters): readonly string[] {
  if (parameters.kind === 'positional') return parameters.values.map((_, i) => String(i + 1));
  return parameters.values.map(([name]) => foldIdentifier(name));
}

function valuesByName(parameters: GivenParameters): ReadonlyMap<string, string> {
  if (parameters.kind === 'positional') {
    return new Map(parameters.values.map((value, i) => [String(i + 1), printParameter(value)]));
  }
  const values = new Map<string, string>();
  for (const [name, value] of parameters.values) {
    const key = foldIdentifier(name);
    if (values.has(key)) throw new SkeinError('INVALID_REQUEST', `the parameter $${key.slice(0, 100)} has two values`);
    values.set(key, printParameter(value));
  }
  return values;
}

type GivenParameters = Exclude<Parameters, { readonly kind: 'unknown' }>;

/** A parameter in a text: its number, or null for one with a name. */
export type FoundParameter = {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly number: number | null;
};

/** The parameters of a text in their order: `$1` and `?1` with their number, `?` with the next one, `$name` with its name. */
export function* findParameters(sql: string): Generator<FoundParameter> {
  let last = 0;
  for (const { start, end, name } of parametersIn(sql)) {
    const number = name === '' ? last + 1 : /^\d/.test(name) ? Number(name) : null;
    last = Math.max(last, number ?? 0);
    yield { start, end, name, number };
  }
}

/** A `?` has the empty name. */
function* parametersIn(sql: string): Generator<Omit<FoundParameter, 'number'>> {
  const columns = new Set(findStages(sql).columns.map(({ start }) => start));
  const tokens = new Tokenizer(sql);
  let dollar: Token | null = null;
  for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
    const { start, end, kind } = token;
    const symbol = kind === 'symbol' ? sql.slice(start, end) : '';
    if (dollar !== null && (kind === 'word' || kind === 'quoted')) {
      yield { start: dollar.start, end, name: identifierText(sql, token) };
    } else if (kind === 'parameter' && !columns.has(start)) {
      yield { start, end, name: sql.slice(start + 1, end).replaceAll('_', '') };
    } else if (symbol === '?') {
      yield { start, end, name: '' };
    }
    dollar = symbol === '$' ? token : null;
  }
}
