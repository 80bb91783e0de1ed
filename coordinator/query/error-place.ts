import { SkeinError } from '#shared/error.ts';

/** The error with its place in the statement in words, as `(line 2, column 8)`, both from 1; unchanged when it has no position. */
export function withPlace(error: SkeinError, statement: string): SkeinError {
  const { position } = error;
  if (position === undefined || position < 0 || position > statement.length) return error;
  const before = statement.slice(0, position);
  const line = before.split('\n').length;
  const column = position - before.lastIndexOf('\n');
  return new SkeinError(error.code, `${error.message} (line ${line}, column ${column})`, {
    position,
    cause: error.cause,
  });
}
