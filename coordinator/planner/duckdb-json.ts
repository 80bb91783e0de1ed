import { parseJson, type Json } from '#shared/json.ts';

/** Strings are skipped whole, also an unclosed one, so that each character is looked at once. */
const STRING_OR_BARE_NUMBER = /"(?:[^"\\]|\\[^])*(?:"|\\?$)|(-?(?:Infinity|NaN|inf|nan))/gi;

/** DuckDB prints some doubles bare, which JSON has no form for: they become strings. */
export function parseDuckDbJson(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return parseJson(
      text.replaceAll(STRING_OR_BARE_NUMBER, (whole, bare: string | undefined) =>
        bare === undefined ? whole : JSON.stringify(bare),
      ),
    );
  }
}
