import { withoutUnseen } from '../principal-statement/check-names.ts';

const NAME_LENGTH_MAX = 64;

/** A passkey's name as its person has typed it, without characters that nobody sees, and without the half of one that is cut. */
export const passkeyName = (typed: string): string =>
  withoutUnseen(withoutUnseen(typed).slice(0, NAME_LENGTH_MAX)).trim() || 'Passkey';
