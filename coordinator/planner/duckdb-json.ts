import { parseJson, type Json } from '#shared/json.ts';

const BARE_DOUBLE = /-?(?:Infinity|NaN|inf|nan)/gi;

/** DuckDB prints some doubles bare, which JSON has no form for: they become strings. */
export function parseDuckDbJson(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return parseJson(quoteBareDoubles(text));
  }
}

/** Looks at each character once. A pattern that passes over a string overflows the engine's stack at some millions of characters. */
function quoteBareDoubles(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const open = text.indexOf('"', at);
    const bareEnd = open === -1 ? text.length : open;
    parts.push(text.slice(at, bareEnd).replaceAll(BARE_DOUBLE, (double) => JSON.stringify(double)));
    at = open === -1 ? text.length : stringEnd(text, open);
    parts.push(text.slice(bareEnd, at));
  }
  return parts.join('');
}

/** Returns the index behind the string that begins at `open`: the text's length when it is not closed. */
function stringEnd(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at += 1) {
    if (text[at] === '"') return at + 1;
    if (text[at] === '\\') at += 1;
  }
  return text.length;
}
