import { SkeinError } from '#shared/error.ts';
import { SCOPES, type Scope } from '#shared/authorization/token-claims.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { isArchivedName } from './archived-name.ts';

const NAME_LENGTH_MAX = 255;
const EMAIL_LENGTH_MAX = 254;
const TEXT_LENGTH_MAX = 2_000;
const EMAIL = /^[^\s@"(),:;<>[\\\]]+@[^\s@"(),:;<>[\\\]]+$/u;
const UNPRINTABLE = /\p{C}/u;

/** A new name of a user, an account, a role, a token or a webhook. @throws INVALID_REQUEST */
export function checkName(what: string, name: string): void {
  const isName = name !== '' && name.length <= NAME_LENGTH_MAX && name.trim() === name && !UNPRINTABLE.test(name);
  if (!isName) throw new SkeinError('INVALID_REQUEST', `not a name of ${what}`);
  if (isArchivedName(name)) throw new SkeinError('INVALID_REQUEST', 'names of this form are for archived users');
  if (foldIdentifier(name) === 'self') throw new SkeinError('INVALID_REQUEST', 'SELF is the caller, and no name');
}

/** @throws INVALID_REQUEST */
export function checkEmail(email: string): void {
  if (email.length > EMAIL_LENGTH_MAX || !EMAIL.test(email) || UNPRINTABLE.test(email)) {
    throw new SkeinError('INVALID_REQUEST', 'EMAIL is no email address');
  }
}

/** A text for people. @throws INVALID_REQUEST */
export function checkText(what: string, text: string | null | undefined): void {
  if ((text ?? '').length > TEXT_LENGTH_MAX || (text ?? '').includes('\0')) {
    throw new SkeinError('INVALID_REQUEST', `${what} has at most ${TEXT_LENGTH_MAX} characters`);
  }
}

const isScope = (word: string): word is Scope => Object.hasOwn(SCOPES, word);

/** The scopes that the words name, each once. @throws INVALID_REQUEST for a word that is none */
export function scopesNamed(words: string): readonly Scope[] {
  const named = words.split(/\s+/).filter((word) => word !== '');
  const unknown = named.find((word) => !isScope(word));
  if (unknown !== undefined) throw new SkeinError('INVALID_REQUEST', `unknown scope: ${unknown}`);
  return [...new Set(named.filter(isScope))];
}
