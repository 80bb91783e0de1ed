import { SkeinError } from '#shared/error.ts';

const LINE_FEED = 0x0a;

/** The error with its place in the statement in words, as `(line 2, column 8)`, both from 1; unchanged when it has no position. */
export function withPlace(error: SkeinError, statement: string): SkeinError {
  const { position } = error;
  if (position === undefined || position < 0 || position > statement.length) return error;
  let line = 1;
  let lineStart = 0;
  for (let i = 0; i < position; i += 1) {
    if (statement.charCodeAt(i) !== LINE_FEED) continue;
    line += 1;
    lineStart = i + 1;
  }
  return new SkeinError(error.code, `${error.message} (line ${line}, column ${position - lineStart + 1})`, {
    position,
    cause: error.cause,
  });
}
