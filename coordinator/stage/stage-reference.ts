import { SkeinError } from '#shared/error.ts';
import { stagePathNames } from '#shared/stage/stage-path.ts';

/**
 * A stage, and a path in it, as statements and requests write them: `@stage/a/b.csv`, `@schema.stage`, `@catalog.schema.stage/a`, `@~/a` for
 * the principal's own stage. Plain data.
 */
export type StageReference = {
  /** One to three parts; null = the principal's own stage. */
  readonly name: readonly string[] | null;
  /** Without a slash at its begin and end; empty = the stage itself. */
  readonly path: string;
  /** 0-based character position in the statement. */
  readonly position: number;
};

/** A part of a name: in quotes, or a word. */
const PART = /"(?:[^"]|"")+"|[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y;
const PARTS_MAX = 3;

/** @throws SYNTAX_ERROR for what is no reference, INVALID_REQUEST for a path that no file of a stage has; both with a position */
export function parseStageReference(text: string, position: number): StageReference {
  const fail = (message: string): never => {
    throw new SkeinError('SYNTAX_ERROR', message, { position });
  };
  if (!text.startsWith('@')) fail('a stage begins with @');
  const { parts, end } = text.startsWith('~', 1) ? { parts: null, end: 2 } : readName(text, fail);
  if (end < text.length && text[end] !== '/') fail('after the name of a stage comes a slash and a path');
  if (text.startsWith('//', end)) fail('a name in the path of a stage is empty');
  const path = text.slice(end + 1).replace(/\/$/, '');
  try {
    stagePathNames(path);
  } catch (error) {
    const { code, message } = SkeinError.of(error);
    throw new SkeinError(code, message, { position, cause: error });
  }
  return { name: parts, path, position };
}

function readName(
  text: string,
  fail: (message: string) => never,
): { readonly parts: readonly string[]; readonly end: number } {
  const parts: string[] = [];
  let at = 1;
  for (;;) {
    PART.lastIndex = at;
    const part = PART.exec(text)?.[0] ?? fail('after @ comes the name of a stage, or ~ for your own');
    parts.push(part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part);
    at += part.length;
    if (parts.length > PARTS_MAX) fail('the name of a stage has too many parts');
    if (text[at] !== '.') return { parts, end: at };
    at += 1;
  }
}

/** A reference as people write it. */
export const printStage = ({ name }: Pick<StageReference, 'name'>): string =>
  name === null ? '@~' : `@${name.join('.')}`;
