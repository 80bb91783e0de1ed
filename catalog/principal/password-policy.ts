import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';

/** The rules of a tenant for its passwords (service specification, Authentication 5). */
export type PasswordPolicy = {
  /** Fewest characters. */
  readonly minLength: number;
  /** Fewest of the four classes of characters: small letters, capital letters, digits, others. */
  readonly classes: number;
  /** So many former passwords may not come again, the current one among them. */
  readonly history: number;
};

/** Most characters of a password, whatever the policy. */
const PASSWORD_LENGTH_MAX = 256;
/** A shorter part of an email is in many words, so only a password that equals it is refused. */
const EMAIL_LENGTH_MIN = 3;
const CLASSES: readonly RegExp[] = [/\p{Ll}/u, /\p{Lu}/u, /\p{Nd}/u, /[^\p{Ll}\p{Lu}\p{Nd}]/u];

/** Checks all of the policy but the history. @throws PASSWORD_POLICY, whose message has nothing of the password */
export function checkPassword(
  password: string,
  policy: PasswordPolicy,
  user: { readonly username: string; readonly email: string | null },
): void {
  const refuse = (why: string): never => {
    throw new SkeinError('PASSWORD_POLICY', `the password ${why}`);
  };
  const { length } = Array.from(password);
  if (length < policy.minLength) refuse(`has fewer than ${policy.minLength} characters`);
  if (length > PASSWORD_LENGTH_MAX) refuse(`has more than ${PASSWORD_LENGTH_MAX} characters`);
  if (password.includes('\0')) refuse('holds a character that cannot be typed');
  if (CLASSES.filter((characters) => characters.test(password)).length < policy.classes) {
    refuse(`needs ${policy.classes} of: small letters, capital letters, digits, other characters`);
  }
  const folded = foldIdentifier(password);
  const [localPart = ''] = (user.email ?? '').split('@');
  const holdsEmail = [user.email ?? '', localPart]
    .map(foldIdentifier)
    .some((part) => folded === part || (part.length >= EMAIL_LENGTH_MIN && folded.includes(part)));
  if (holdsEmail || folded.includes(foldIdentifier(user.username))) refuse('holds the name or the email of the user');
}
