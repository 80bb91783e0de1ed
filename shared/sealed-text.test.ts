import { expect, test } from 'vitest';
import { fixedKeyring } from './keyring.ts';
import { openText, sealText } from './sealed-text.ts';
import { signText } from './signed-text.ts';

const keyring = fixedKeyring('secret');
const TEXT = '{"roles":["tenant_admin"],"ü":"\u{1f600}"}';

test('a text is read again, also once its secret is no longer the current one', () => {
  const sealed = sealText(TEXT, keyring);
  expect(openText(sealed, keyring)).toEqual({ text: TEXT });
  expect(openText(sealed, { current: 'newer', accepted: ['newer', 'secret'] })).toEqual({ text: TEXT });
});

test('two sealed texts differ, and nobody without the secret reads them', () => {
  const [one, other] = [sealText(TEXT, keyring), sealText(TEXT, keyring)];
  expect(one).not.toBe(other);
  const bytes = Buffer.from(one.split('.')[1] ?? '', 'base64url').toString('latin1');
  expect(bytes).not.toContain('tenant_admin');
  expect(openText(one, fixedKeyring('other'))).toEqual({ problem: 'is signed with an unknown key' });
});

test('a text that is bound to something opens for nothing else', () => {
  const sealed = sealText(TEXT, keyring, 'catalog 1');
  expect(openText(sealed, keyring, 'catalog 1')).toEqual({ text: TEXT });
  expect(openText(sealed, keyring, 'catalog 2')).toEqual({ problem: 'is not valid' });
  expect(openText(sealed, keyring)).toEqual({ problem: 'is not valid' });
});

test('no character of it can change', () => {
  const sealed = sealText(TEXT, keyring);
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
    expect(openText(changed, keyring), changed).toHaveProperty('problem');
  }
  for (const odd of ['', '.', `${sealed}.x`, `${sealed}=`, `${sealed}A`, sealed.slice(0, -1), sealed.slice(0, 20)]) {
    expect(openText(odd, keyring), odd).toHaveProperty('problem');
  }
});

test('a signed text is none', () => {
  expect(openText(signText(TEXT, keyring), keyring)).toEqual({ problem: 'is not valid' });
});
