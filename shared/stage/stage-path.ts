import { SkeinError } from '#shared/error.ts';

/** Paths of files in a stage, as clients write them after `@stage/`. Pure. */

/** Maximum length of a path, in bytes of UTF-8: it leaves 3,072 of the 4,096 of a path of Linux to the folder of the stage. */
const PATH_BYTES_MAX = 1_024;
/** Maximum length of one name in a path, in bytes of UTF-8: 255 as file systems have it, less what a temporary name adds. */
const NAME_BYTES_MAX = 200;
/** Maximum number of names in a path. */
const DEPTH_MAX = 32;

/** Control characters, and those that clients, URLs and globs read in different ways. */
const ODD_CHARACTERS = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\\%?#*[\]"<>|:]/u;

/**
 * Checks the path of a file, or of a folder, and returns its names; none for the stage itself. A slash at the end is left out. The path has
 * one spelling only: nothing in it is decoded, and nothing is taken out of it.
 * @throws INVALID_REQUEST for an absolute path, `.` and `..`, an empty name, odd characters, text that is not Unicode or not in normal form C,
 *   a name that begins with a dot (the stage's own files have such names), and one that is too long or too deep
 */
export function stagePathNames(path: string): readonly string[] {
  if (path === '') return [];
  // First, so that no error repeats such a text.
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) throw invalid(`a path of a stage has at most ${PATH_BYTES_MAX} bytes`);
  if (!path.isWellFormed()) throw invalid('the path of a stage is no Unicode text');
  if (path.startsWith('/')) throw invalid('the path of a stage does not begin with a slash');
  const names = (path.endsWith('/') ? path.slice(0, -1) : path).split('/');
  if (names.length > DEPTH_MAX) throw invalid(`a path of a stage has at most ${DEPTH_MAX} names`);
  for (const name of names) checkName(name);
  return names;
}

/** `stagePathNames` for the path of a file. @throws INVALID_REQUEST also for no name, and for a slash at the end */
export function stageFileNames(path: string): readonly string[] {
  const names = stagePathNames(path);
  if (names.length === 0 || path.endsWith('/')) throw invalid('the path of a file in a stage ends with its name');
  return names;
}

function checkName(name: string): void {
  if (name === '') throw invalid('a name in the path of a stage is empty');
  if (ODD_CHARACTERS.test(name)) throw invalid('the path of a stage has a character that is not allowed');
  if (name.normalize('NFC') !== name) throw invalid('the path of a stage is not in Unicode’s normal form C');
  if (name.startsWith('.')) throw invalid('a name in the path of a stage begins with a dot');
  if (name !== name.trim()) throw invalid('a name in the path of a stage begins or ends with a space');
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) {
    throw invalid(`a name in the path of a stage has at most ${NAME_BYTES_MAX} bytes`);
  }
}

const invalid = (message: string): SkeinError => new SkeinError('INVALID_REQUEST', message);
