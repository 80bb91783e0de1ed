import { expect, test } from 'vitest';
import { checkPassword } from './password-policy.ts';

const POLICY = { minLength: 8, classes: 3, history: 0 };
const check = (password: string, username: string, email: string | null = null): string => {
  try {
    checkPassword(password, POLICY, { username, email });
    return 'taken';
  } catch (error) {
    return (error as Error).message;
  }
};
const HOLDS = 'the password holds the name or the email of the user';

test('no name of a user may be in its password, however short it is', () => {
  expect(check('Correct-Horse-9', 'rr')).toBe(HOLDS);
  expect(check('Correct-Horse-9', 'H')).toBe(HOLDS);
  expect(check('Correct-Horse-9', 'horse')).toBe(HOLDS);
  expect(check('Correct-Horse-9', 'x')).toBe('taken');
});

test('parts of an email of one or two characters may', () => {
  expect(check('Correct-Horse-9', 'ann', 'rr@example.org')).toBe('taken');
  expect(check('Correct-Horse-9', 'ann', 'horse@example.org')).toBe(HOLDS);
  expect(check('Correct-Horse-9', 'ann', null)).toBe('taken');
});
