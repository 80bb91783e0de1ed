import { expect, test } from 'vitest';
import { isOwnAddress, isOwnOrigin, ownAddress } from './own-address.ts';

const here = ownAddress('');
const far = ownAddress('https://catalog.example.com/');

test.each([
  [here, '127.0.0.1:8181', '127.0.0.1', true],
  [here, 'localhost:8181', '127.0.0.1', true],
  [here, '[::1]:8181', '::1', true],
  [here, 'localhost:8181', '::ffff:127.0.0.1', true],
  [here, 'localhost:8181', '10.0.0.5', false],
  [here, '10.0.0.5:8181', '10.0.0.5', false],
  [here, 'rebound.example:8181', '127.0.0.1', false],
  [here, 'x@localhost:8181', '127.0.0.1', false],
  [here, undefined, '127.0.0.1', false],
  [far, 'catalog.example.com', '10.0.0.5', true],
  [far, 'Catalog.Example.com', '10.0.0.5', true],
  [far, 'catalog.example.com:8181', '10.0.0.5', false],
  [far, 'localhost:8181', '127.0.0.1', false],
  [ownAddress('http://catalog.example.com'), 'catalog.example.com', '10.0.0.5', false],
])('the pages at %j for the host %s, at the address %s: %s', (own, host, localAddress, expected) => {
  expect(isOwnAddress(own, { host, localAddress })).toBe(expected);
});

test.each([
  [here, 'http://localhost:8181', true],
  [here, 'https://localhost:8181', false],
  [here, 'http://localhost:8182', false],
  [here, 'http://127.0.0.1:8181', false],
  [here, 'null', false],
  [here, undefined, false],
  [far, 'https://localhost:8181', true],
])('a form at %j of the origin %s: %s', (own, origin, expected) => {
  expect(isOwnOrigin(own, origin, 'localhost:8181')).toBe(expected);
});
