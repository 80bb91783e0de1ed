import { expect, test } from 'vitest';
import { checkEmail, checkPrincipalName, firstEmail } from './check-names.ts';

const isName = (name: string): boolean => passes(() => checkPrincipalName('a user', name));
const isEmail = (email: string): boolean => passes(() => checkEmail(email));
function passes(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

test.each([0xfe0f, 0x034f, 0x3164, 0x115f, 0x17b4, 0x200b, 0x00ad, 0xe0100, 0x2800])(
  'a name or an email with U+%i, which nobody sees, is refused',
  (code) => {
    const unseen = String.fromCodePoint(code);
    expect(isName(`ad${unseen}min`)).toBe(false);
    expect(isEmail(`ad${unseen}min@example.org`)).toBe(false);
  },
);

test.each(['ａdmin', 'ﬁn', 'e\u0301va', 'admin²', 'Ⅳ'])('a name that NFKC changes is refused: %s', (name) => {
  expect(isName(name)).toBe(false);
  expect(isName(name.normalize('NFKC'))).toBe(true);
});

test.each(['ann', 'Éva', '李雷', 'a b', 'o’neil', "o'neil", 'अनु'])('a name: %s', (name) => {
  expect(isName(name)).toBe(true);
});

test.each(['ann@localhost', 'a.b+c@example.org', 'jürgen@bücher.example', `${'a'.repeat(64)}@example.org`])(
  'an email: %s',
  (email) => {
    expect(isEmail(email)).toBe(true);
  },
);

test.each([
  '@',
  'ann',
  'ann@',
  '@example.org',
  'ann@.',
  'ann@example..org',
  'ann@-example.org',
  '.ann@example.org',
  'a..n@example.org',
  'ann@ex_ample.org',
  `${'a'.repeat(65)}@example.org`,
  `ann@${'a'.repeat(250)}.org`,
])('no email: %s', (email) => {
  expect(isEmail(email)).toBe(false);
});

test('the first administrator has an email, whatever its name is', () => {
  expect(firstEmail('root', '')).toBe('root@localhost');
  expect(firstEmail('the root', '')).toBe('admin@localhost');
  expect(firstEmail('root', 'ann@example.org')).toBe('ann@example.org');
  expect(() => firstEmail('root', 'nothing')).toThrow('EMAIL is an address');
});
