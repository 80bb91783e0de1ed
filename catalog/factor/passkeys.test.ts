import { expect, test } from 'vitest';
import { relyingParty } from './passkeys.ts';

test.each([
  ['', { id: 'localhost', origin: 'http://localhost:7710' }],
  ['http://127.0.0.1:9', { id: 'localhost', origin: 'http://localhost:7710' }],
  ['https://Catalog.Example.com/', { id: 'catalog.example.com', origin: 'https://catalog.example.com' }],
  ['https://catalog.example.com:8443', { id: 'catalog.example.com', origin: 'https://catalog.example.com:8443' }],
  ['https://10.0.0.1', undefined],
  ['https://[::1]:8443', undefined],
])('passkeys of %s are bound to its name', (publicUrl, site) => {
  expect(relyingParty(publicUrl, 7710)).toEqual(site);
});
