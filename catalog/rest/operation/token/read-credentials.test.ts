import { expect, test } from 'vitest';
import { readCredentials } from './read-credentials.ts';

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

test.each([
  [undefined, {}, { kind: 'none' }],
  [undefined, { client_id: 'a' }, { kind: 'none' }],
  [undefined, { client_id: 'a', client_secret: 's' }, { kind: 'secret', clientId: 'a', secret: 's' }],
  [undefined, { client_secret: 's' }, { kind: 'secret', clientId: undefined, secret: 's' }],
  [basic('a:s'), {}, { kind: 'secret', clientId: 'a', secret: 's' }],
  [basic('a:s:t'), {}, { kind: 'secret', clientId: 'a', secret: 's:t' }],
  [basic('a%3Ab:s%25'), {}, { kind: 'secret', clientId: 'a:b', secret: 's%' }],
  [basic('a:100%'), {}, { kind: 'secret', clientId: 'a', secret: '100%' }],
  [basic('s'), {}, { kind: 'secret', clientId: undefined, secret: 's' }],
  [basic(':s'), {}, { kind: 'secret', clientId: undefined, secret: 's' }],
  [basic('a:s'), { client_id: 'a' }, { kind: 'secret', clientId: 'a', secret: 's' }],
  [basic('a:s').replace('Basic', 'bAsIc '), {}, { kind: 'secret', clientId: 'a', secret: 's' }],
  ['Bearer t', {}, { kind: 'bearer', token: 't' }],
  ['Bearer t', { client_id: 'a', client_secret: 's' }, { kind: 'secret', clientId: 'a', secret: 's' }],
])('%j with %j', (header, form, credentials) => {
  expect(readCredentials(header, form)).toEqual(credentials);
});

test.each([
  [basic('a:s'), { client_secret: 's' }, 'invalid_request'],
  [basic('a:s'), { client_id: 'b' }, 'invalid_request'],
  [basic(''), {}, 'invalid_client'],
  [basic('a:'), {}, 'invalid_client'],
  ['Basic !!!', {}, 'invalid_client'],
  [basic('a\0:s'), {}, 'invalid_client'],
  [basic('a:s\0'), {}, 'invalid_client'],
  [basic('%00:s'), {}, 'invalid_client'],
  ['Basic', {}, 'invalid_client'],
  ['Digest x', {}, 'invalid_client'],
  ['Bearer a b', {}, 'invalid_client'],
])('%j with %j is %s', (header, form, code) => {
  expect(() => readCredentials(header, form)).toThrow(expect.objectContaining({ code }));
});
