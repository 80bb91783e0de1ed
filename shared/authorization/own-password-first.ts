import { SkeinError } from '../error.ts';

/** Says to a principal that must set its password why nothing else is allowed. */
export const OWN_PASSWORD_FIRST =
  "set a new password first: ALTER USER SELF SET PASSWORD 'new' OLD PASSWORD 'old', and sign in with it";

/** Lets a principal that must set its password do that, and nothing else. @throws FORBIDDEN */
export function requireOwnPasswordFirst(mustChange: boolean | undefined, setsOwnPassword: boolean): void {
  if (mustChange === true && !setsOwnPassword) throw new SkeinError('FORBIDDEN', OWN_PASSWORD_FIRST);
}
