import { SkeinError } from '#shared/error.ts';
import { UPLOADS_FOLDER } from './stage-folders.ts';

/** Paths of files in a stage, as clients write them after `@stage/`. Pure. */

/** Maximum length of a path, in bytes of UTF-8: it leaves 3,072 of the 4,096 of a path of Linux to the folder of the stage. */
const PATH_BYTES_MAX = 1_024;
/** Maximum length of one name in a path, in bytes of UTF-8: 255 as file systems have it, less what a temporary name adds. */
const NAME_BYTES_MAX = 200;
/** Maximum number of names in a path. */
const DEPTH_MAX = 32;
/** Characters of a path in an error. */
const SHOWN_MAX = 200;

/**
 * Control characters, those of writing directions among them, which make a path look like another one; and the backslash, which other systems
 * take for a slash.
 */
const FORBIDDEN = /[\p{Cc}\u202a-\u202e\u2066-\u2069\\]/gu;

/**
 * Checks the path of a file, or of a folder, and returns its names; none for the stage itself. A slash at the end is left out. A path is the
 * bytes that it is: nothing in it is decoded or normalised, and nothing is taken out of it.
 * @throws INVALID_REQUEST for an absolute path, `.` and `..`, an empty name, a character of `FORBIDDEN`, text that is not Unicode, the folder
 *   in which files are while they are written, and a path that is too long or too deep
 */
export function stagePathNames(path: string): readonly string[] {
  if (path === '') return [];
  const fail = (what: string): never => {
    throw new SkeinError('INVALID_REQUEST', `the path ${shown(path)} of a stage ${what}`);
  };
  if (!path.isWellFormed()) fail('is no Unicode text');
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) fail(`has more than ${PATH_BYTES_MAX} bytes`);
  const forbidden = path.match(FORBIDDEN)?.[0];
  if (forbidden !== undefined) fail(`has the character ${named(forbidden)}, which is not allowed`);
  if (path.startsWith('/')) fail('begins with a slash');
  const names = (path.endsWith('/') ? path.slice(0, -1) : path).split('/');
  if (names.length > DEPTH_MAX) fail(`has more than ${DEPTH_MAX} names`);
  for (const name of names) {
    if (name === '') fail('has an empty name: two slashes follow each other');
    if (name === '.' || name === '..') fail(`has the name ${name}`);
    if (Buffer.byteLength(name) > NAME_BYTES_MAX) fail(`has a name of more than ${NAME_BYTES_MAX} bytes`);
  }
  // On some systems names have no case.
  if (names[0]?.toLowerCase() === UPLOADS_FOLDER)
    fail(`begins with ${UPLOADS_FOLDER}, which is the stage's own folder`);
  return names;
}

/** `stagePathNames` for the path of a file. @throws INVALID_REQUEST also for no name, and for a slash at the end */
export function stageFileNames(path: string): readonly string[] {
  const names = stagePathNames(path);
  if (names.length > 0 && !path.endsWith('/')) return names;
  throw new SkeinError('INVALID_REQUEST', `the path ${shown(path)} of a file in a stage does not end with its name`);
}

/** The path in quotes, such that every character of it can be read. */
function shown(path: string): string {
  const begin = path.length > SHOWN_MAX ? `${path.slice(0, SHOWN_MAX)}...` : path;
  const readable = begin
    .toWellFormed()
    .replaceAll(FORBIDDEN, (sign) => (sign === '\\' ? sign : `<${codePoint(sign)}>`));
  return `"${readable}"`;
}

const named = (sign: string): string => (sign === '\\' ? `${sign} (${codePoint(sign)})` : codePoint(sign));

const codePoint = (sign: string): string =>
  `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
