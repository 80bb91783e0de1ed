import { SkeinError } from '#shared/error.ts';
import { SCOPES, type Scope } from '#shared/authorization/token-claims.ts';
import { looksSecret } from '#shared/mask-secrets.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { isArchivedName } from './archived-name.ts';

const NAME_LENGTH_MAX = 255;
const EMAIL_LENGTH_MAX = 254;
/** Characters before the `@` (RFC 5321). */
const LOCAL_LENGTH_MAX = 64;
const TEXT_LENGTH_MAX = 2_000;
/** Words between dots; words of letters, digits and hyphens between dots. */
const EMAIL =
  /^[^\s@"(),:;<>[\\\].]+(?:\.[^\s@"(),:;<>[\\\].]+)*@[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?)*$/u;
/** Characters that nobody sees, which would make two names look alike: U+FE0F, U+034F, U+3164 and such, and the empty braille cell. */
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;
const EACH_UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** A text without such characters. */
export const withoutUnseen = (text: string): string => text.replaceAll(EACH_UNSEEN, '');

/** A new name of a user, an account, a role, a token or a webhook. @throws INVALID_REQUEST */
export function checkPrincipalName(what: string, name: string): void {
  const isName = name !== '' && name.length <= NAME_LENGTH_MAX && name.trim() === name && !UNSEEN.test(name);
  if (!isName) throw new SkeinError('INVALID_REQUEST', `not a name of ${what}`);
  // Two names that are one after NFKC look alike, so the second cannot be made.
  if (name.normalize('NFKC') !== name) {
    throw new SkeinError(
      'INVALID_REQUEST',
      `not a name of ${what}: its characters have a plainer form (NFKC), to be used instead`,
    );
  }
  if (looksSecret(name)) throw new SkeinError('INVALID_REQUEST', `not a name of ${what}: it has the form of a secret`);
  if (isArchivedName(name)) throw new SkeinError('INVALID_REQUEST', 'names of this form are for archived users');
  if (foldIdentifier(name) === 'self') throw new SkeinError('INVALID_REQUEST', 'SELF is the caller, and no name');
}

/** @throws INVALID_REQUEST */
export function checkEmail(email: string): void {
  const local = email.slice(0, email.lastIndexOf('@'));
  const isShort = email.length <= EMAIL_LENGTH_MAX && local.length <= LOCAL_LENGTH_MAX;
  if (!isShort || !EMAIL.test(email) || UNSEEN.test(email) || email.normalize('NFKC') !== email) {
    throw new SkeinError(
      'INVALID_REQUEST',
      `EMAIL is an address, name@host, of at most ${EMAIL_LENGTH_MAX} characters`,
    );
  }
}

/** The email of a tenant's first administrator, whose name may be none of an address. @throws INVALID_REQUEST when one is given that is none */
export function firstEmail(name: string, given: string): string {
  if (given === '') return `${addressable(name) ? name : 'admin'}@localhost`;
  checkEmail(given);
  return given;
}

const addressable = (name: string): boolean => EMAIL.test(`${name}@localhost`) && name.length <= LOCAL_LENGTH_MAX;

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
