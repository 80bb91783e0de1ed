import { SkeinError } from '#shared/error.ts';

/** Maximum nesting depth of a JSON document: parsers and printers recurse. */
const DEPTH_MAX = 200;
/** Maximum number of digits of a number: converting millions of them to a `bigint` takes half a minute. */
const DIGITS_MAX = 1_000;

/**
 * Checks a document before it is parsed, because the parser blocks all other requests: it takes half a minute for a body of 30 MB that
 * consists of `{},`. Counts brackets, commas and digits outside of strings, and assumes that no list or object is empty.
 * @param valuesMax maximum number of values of the document. @throws INVALID_REQUEST
 */
export function checkJson(text: string, valuesMax: number): void {
  let depth = 0;
  let values = 1;
  let digits = 0;
  let inString = false;
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i += 1;
      else if (char === 0x22) inString = false;
      continue;
    }
    if (char >= 0x30 && char <= 0x39) {
      digits += 1;
      if (digits > DIGITS_MAX) refuse(`a number of more than ${DIGITS_MAX} digits`);
      continue;
    }
    digits = 0;
    if (char === 0x22) inString = true;
    else if (char === 0x2c || char === 0x7b || char === 0x5b) {
      values += 1;
      if (values > valuesMax) refuse(`more than ${valuesMax} values`);
      if (char !== 0x2c) depth += 1;
      if (depth > DEPTH_MAX) refuse(`nested deeper than ${DEPTH_MAX}`);
    } else if (char === 0x7d || char === 0x5d) depth -= 1;
  }
}

function refuse(why: string): never {
  throw new SkeinError('INVALID_REQUEST', `Malformed request: ${why}`);
}
