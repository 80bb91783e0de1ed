import { SkeinError } from '#shared/error.ts';
import { applyEdits, type ParameterEdit } from '../statement/bind-parameters.ts';

/** Maps an error's position in the statement with inserted values to the statement as it was sent. */
export function inSource(error: SkeinError, sql: string, edits: readonly ParameterEdit[]): SkeinError {
  if (error.position === undefined || edits.length === 0) return error;
  return error.at(applyEdits(sql, edits).toSource(error.position));
}

const LINE_FEED = 0x0a;

/** Appends the error's place in the statement, as `(line 2, column 8)`, both from 1; an error without a position is unchanged. */
export function withPlace(error: SkeinError, statement: string): SkeinError {
  const { position } = error;
  if (position === undefined || position < 0 || position > statement.length) return error;
  return error.at(position, `${error.message} (${placeIn(statement, position)})`);
}

/** A place in a text in words: `line 2, column 8`, both from 1. */
export function placeIn(statement: string, position: number): string {
  let line = 1;
  let lineStart = 0;
  for (let i = 0; i < position; i += 1) {
    if (statement.charCodeAt(i) !== LINE_FEED) continue;
    line += 1;
    lineStart = i + 1;
  }
  return `line ${line}, column ${position - lineStart + 1}`;
}
