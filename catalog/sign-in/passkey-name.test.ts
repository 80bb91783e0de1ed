import { expect, test } from 'vitest';
import { passkeyName } from './passkey-name.ts';

test.each([
  ['', 'Passkey'],
  [' \u200b\u3164 ', 'Passkey'],
  [' my phone ', 'my phone'],
  ['a\0b\n\u202ec\ud800', 'abc'],
  [`${'x'.repeat(63)}😀😀`, 'x'.repeat(63)],
  [`${'x'.repeat(62)}😀😀`, `${'x'.repeat(62)}😀`],
])('a passkey that is named %j is called %j', (typed, name) => {
  expect(passkeyName(typed)).toBe(name);
});
