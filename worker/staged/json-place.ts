// DuckDB 1.5's messages about JSON. They hold parts of the file: no pattern takes more than linear time.
const IN_FILE = /^(Malformed JSON|JSON transform error) in file "([^\n]*)/;
const PLACE = /^(?:at byte \d+ )?in (?:line|record\/value) (\d+): ([^\n]*)/;

/** The parts of a message about JSON; the name of a file may have quotes of its own. */
export type JsonPlace = {
  readonly kind: string;
  readonly path: string;
  readonly line: string;
  readonly reason: string;
};

/** Undefined for a message about something else. */
export function placeOfJson(message: string): JsonPlace | undefined {
  const [, kind, rest] = IN_FILE.exec(message) ?? [];
  if (kind === undefined || rest === undefined) return undefined;
  for (let end = rest.indexOf('", '); end !== -1; end = rest.indexOf('", ', end + 1)) {
    const [, line, reason = ''] = PLACE.exec(rest.slice(end + 3)) ?? [];
    if (line !== undefined) return { kind, path: rest.slice(0, end), line, reason };
  }
  return undefined;
}
