import { SkeinError } from '#shared/error.ts';
import { BEHIND_CALLS, NO_CALLS, type CallText } from './call-text.ts';

/** Operators that compare a text with a regular expression: a short look at a long text. */
export const PATTERN_OPERATORS = /(?:^|[^~])~(?!~)/;

/** The engine's operators in their place, and the options of the expression. */
const OPERATORS: Readonly<Record<string, readonly [operator: string, options: string]>> = {
  '~': ['~', 's'],
  '!~': ['!~', 's'],
  '~*': ['~', 'si'],
  '!~*': ['!~', 'si'],
};

const SIGN = /[-~!@#%^&|`?*<>=+/]/;

/**
 * Writes the operators that look for a regular expression, which the engine compares with the whole text, and has with capitals alone.
 * ```
 * WHERE a ~ 'b' AND c !~* $1  ->  WHERE a ~ ('(?s).*(?:' || 'b' || ').*') AND c !~ ('(?si).*(?:' || $1 || ').*')
 * ```
 * @throws NOT_SUPPORTED where the expression is more than a literal, a parameter, a name or a value in brackets
 */
export function writePatterns(text: CallText): void {
  for (let at = 0; at < text.length; at += 1) {
    const length = signsAt(text, at);
    if (length === 0) continue;
    const signs = Array.from({ length }, (_, i) => text.symbol(at + i)).join('');
    const known = OPERATORS[signs];
    const first = at + length;
    const isBitwise = signs === '~' && !text.isString(first) && text.beginOfValue(at - 1) === undefined;
    if (known !== undefined && !isBitwise && at > 0) {
      const last = endOfOperand(text, first);
      if (last === undefined) {
        throw new SkeinError(
          'NOT_SUPPORTED',
          `${signs} takes a literal, a parameter, a column or a value in brackets`,
          {
            position: text.startOf(at),
          },
        );
      }
      const [operator, options] = known;
      text.replace(at, operator);
      for (let i = at + 1; i < first; i += 1) text.replace(i, '');
      text.prepend(first, `('(?${options}).*(?:' || `);
      text.append(last, ` || ').*')`);
    }
    at = first - 1;
  }
}

/** The number of signs side by side that are one operator; 0 = none stands there. */
function signsAt(text: CallText, at: number): number {
  let length = 0;
  while (SIGN.test(text.symbol(at + length) || ' ')) {
    if (length > 0 && text.endOf(at + length - 1) !== text.startOf(at + length)) break;
    length += 1;
  }
  return length;
}

/** The last token of a literal, a parameter, a name, a call or brackets with their casts that begin at one; undefined for anything else. */
function endOfOperand(text: CallText, first: number): number | undefined {
  if (text.isString(first) || text.isParameter(first)) return text.endOfCasts(first);
  if (text.symbol(first) === '(') return text.endOfCasts(text.closing(first) ?? first);
  if (text.name(first) === '' || NO_CALLS.has(text.word(first)) || BEHIND_CALLS.has(text.word(first))) return undefined;
  let last = first;
  while (text.symbol(last + 1) === '.' && text.name(last + 2) !== '') last += 2;
  if (text.symbol(last + 1) === '(') last = text.closing(last + 1) ?? last;
  // A string of a type, or a value that is indexed, is not read here.
  return text.isString(last + 1) || text.symbol(last + 1) === '[' ? undefined : text.endOfCasts(last);
}
