import { SkeinError } from '#shared/error.ts';

/** Deepest nesting of a JSON document: parsers and printers recurse. */
const DEPTH_MAX = 200;

/** Counts brackets outside of strings, without parsing. @throws INVALID_REQUEST */
export function checkDepth(text: string): void {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i += 1;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x7b || char === 0x5b) {
      depth += 1;
      if (depth > DEPTH_MAX)
        throw new SkeinError('INVALID_REQUEST', `Malformed request: nested deeper than ${DEPTH_MAX}`);
    } else if (char === 0x7d || char === 0x5d) depth -= 1;
  }
}
