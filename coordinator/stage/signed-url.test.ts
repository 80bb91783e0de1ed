import { expect, test } from 'vitest';
import { principalId, tenantId } from '#shared/id.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { sealText } from '#shared/sealed-text.ts';
import { signText } from '#shared/signed-text.ts';
import { FILES_PATH, signUrl, verifyUrl, type SignedRequest } from './signed-url.ts';

const keyring = fixedKeyring('secret');
const request: SignedRequest = {
  method: 'PUT',
  stageId: '00000000-0000-0000-0000-000000000001',
  path: 'a b/ü&?.csv',
  principal: {
    sub: principalId('p'),
    tenant: tenantId('t'),
    preferred_username: 'u',
    roles: [],
    scope: 'table:write',
    sess_epoch: 0,
    auth_method: 'password',
  },
  expiresAtMs: 1_000,
};
const signed = new URL(signUrl(request, 'http://host:1', keyring));
const signature = signed.searchParams.get('signature') ?? '';
const used = { method: 'PUT', path: request.path };

test('a URL has the path of its file, and says for what it is', () => {
  expect(decodeURIComponent(signed.pathname)).toBe(`${FILES_PATH}/${request.path}`);
  expect(verifyUrl(signature, used, { keyring, nowMs: 999 })).toEqual(request);
});

test.each([
  ['another method', { ...used, method: 'GET' }, signature, 'is for PUT, not for GET'],
  ['another path', { ...used, path: 'b' }, signature, 'is for another path'],
  ['a changed signature', used, `${signature}x`, 'is not valid'],
  ['no signature', used, '', 'is signed with an unknown key'],
  ['the key of another cluster', used, sealText('{}', fixedKeyring('other')), 'unknown key'],
  ['a ticket', used, signText(JSON.stringify(request), keyring), 'is not valid'],
])('%s is refused', (_name, how, text, message) => {
  expect(() => verifyUrl(text, how, { keyring, nowMs: 0 })).toThrow(
    expect.objectContaining({ code: 'URL_NOT_VALID', message: expect.stringContaining(message) }),
  );
});

test('nobody reads in it for whom it is, and what its principal may do', () => {
  const parts = signature.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'));
  for (const word of ['table:write', 'scope', 'roles', 'principal', 'csv', request.stageId]) {
    expect([...parts, signed.search].join()).not.toContain(word);
  }
});

test('its time ends', () => {
  expect(() => verifyUrl(signature, used, { keyring, nowMs: 1_000 })).toThrow(/has expired at 1970-01-01T00:00:01/);
});
